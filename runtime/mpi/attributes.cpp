// SPDX-License-Identifier: Apache-2.0
/// Chapter: attributes of communicators and types, and the keys that they are under.
#include "runtime/mpi/predefined_attributes.hpp"
#include "runtime/mpi/surface.hpp"

#include <mpi_functions.hpp>

namespace dlrt::mpi {
namespace {

int create_keyval(const Site& site, const Keyval& keyval, int* number) {
    if (const int wrong = site.require(number, "keyval")) return site.raise(wrong);
    *number = Keyvals::get().add(keyval);
    return MPI_SUCCESS;
}

int find_keyval(const Site& site, int number, Keyval::Owner owner, KeyvalRef& keyval) {
    keyval = Keyvals::get().find(number);
    if (keyval == nullptr) {
        return site.bad(MPI_ERR_KEYVAL, "keyval {} is freed or was never one", number);
    }
    if (keyval->owner == owner) return MPI_SUCCESS;
    return site.bad(MPI_ERR_KEYVAL, "keyval {} is for objects of another kind", number);
}

int free_keyval(const Site& site, int* number, Keyval::Owner owner) {
    if (const int wrong = site.require(number, "keyval")) return site.raise(wrong);
    // As long as it is attached somewhere it may be freed by everybody who knows it.
    KeyvalRef keyval = Keyvals::get().find_attached(*number);
    const bool is_of_owner = keyval != nullptr && keyval->owner == owner;
    if (!is_of_owner) {
        if (const int wrong = find_keyval(site, *number, owner, keyval)) return site.raise(wrong);
    }
    keyval = nullptr;
    Keyvals::get().remove(*number);
    *number = MPI_KEYVAL_INVALID;
    return MPI_SUCCESS;
}

/// What a function of the caller's said becomes the result, by way of the error handler.
int conclude(const Site& site, int said) {
    if (said == MPI_SUCCESS) return MPI_SUCCESS;
    return site.raise(said, "a function of the attribute's returned {}", said);
}

template<typename Object>
int set_attribute(
    const Site& site, Attributes& attributes, Object object, const KeyvalRef& keyval, void* value
) {
    return conclude(site, attributes.set(keyval, value, object));
}

int get_attribute(const Site& site, Attributes& attributes, void* result, int* flag, int number) {
    if (const int wrong = site.require(result, "attribute_val")) return site.raise(wrong);
    if (const int wrong = site.require(flag, "flag")) return site.raise(wrong);
    void** const place = attributes.find(number);
    *flag = place != nullptr ? 1 : 0;
    if (place != nullptr) *static_cast<void**>(result) = *place;
    return MPI_SUCCESS;
}

int set_for_comm(const Site& site, MPI_Comm comm, int number, void* value) {
    if (!site.ok()) return site.error();
    if (is_predefined_attribute(number)) {
        return site.raise(MPI_ERR_KEYVAL, "attribute {} is the library's", number);
    }
    KeyvalRef keyval;
    const int wrong = find_keyval(site, number, Keyval::Owner::comm, keyval);
    if (wrong != MPI_SUCCESS) return site.raise(wrong);
    return set_attribute(site, site.comm().attributes, comm, keyval, value);
}

int get_for_comm(const Site& site, int number, void* result, int* flag) {
    if (!site.ok()) return site.error();
    if (is_predefined_attribute(number)) {
        if (const int wrong = site.require(result, "attribute_val")) return site.raise(wrong);
        if (const int wrong = site.require(flag, "flag")) return site.raise(wrong);
        int* const value = predefined_attribute(number);
        *flag = value != nullptr ? 1 : 0;
        if (value != nullptr) *static_cast<void**>(result) = value;
        return MPI_SUCCESS;
    }
    KeyvalRef keyval;
    Attributes& attributes = site.comm().attributes;
    // One that is freed is still good where it is attached.
    if (attributes.find(number) == nullptr) {
        const int wrong = find_keyval(site, number, Keyval::Owner::comm, keyval);
        if (wrong != MPI_SUCCESS) return site.raise(wrong);
    }
    return get_attribute(site, attributes, result, flag, number);
}

int delete_for_comm(const Site& site, MPI_Comm comm, int number) {
    if (!site.ok()) return site.error();
    if (is_predefined_attribute(number)) {
        return site.raise(MPI_ERR_KEYVAL, "attribute {} is the library's", number);
    }
    Attributes& attributes = site.comm().attributes;
    if (attributes.find(number) == nullptr) {
        KeyvalRef keyval;
        const int wrong = find_keyval(site, number, Keyval::Owner::comm, keyval);
        if (wrong != MPI_SUCCESS) return site.raise(wrong);
    }
    return conclude(site, attributes.erase(number, comm));
}

Keyval keyval_for_comm(
    MPI_Comm_copy_attr_function* copy, MPI_Comm_delete_attr_function* erase, void* extra_state
) {
    Keyval keyval;
    keyval.owner = Keyval::Owner::comm;
    keyval.extra_state = extra_state;
    keyval.copy_comm = copy;
    keyval.delete_comm = erase;
    return keyval;
}

}  // namespace

int MPI_Comm_create_keyval(
    MPI_Comm_copy_attr_function* copy, MPI_Comm_delete_attr_function* erase, int* number,
    void* extra_state
) {
    const Site site("MPI_Comm_create_keyval");
    if (!site.ok()) return site.error();
    return create_keyval(site, keyval_for_comm(copy, erase, extra_state), number);
}

int MPI_Keyval_create(
    MPI_Copy_function* copy, MPI_Delete_function* erase, int* number, void* extra_state
) {
    const Site site("MPI_Keyval_create");
    if (!site.ok()) return site.error();
    return create_keyval(site, keyval_for_comm(copy, erase, extra_state), number);
}

int MPI_Type_create_keyval(
    MPI_Type_copy_attr_function* copy, MPI_Type_delete_attr_function* erase, int* number,
    void* extra_state
) {
    const Site site("MPI_Type_create_keyval");
    if (!site.ok()) return site.error();
    Keyval keyval;
    keyval.owner = Keyval::Owner::type;
    keyval.extra_state = extra_state;
    keyval.copy_type = copy;
    keyval.delete_type = erase;
    return create_keyval(site, keyval, number);
}

int MPI_Comm_free_keyval(int* number) {
    const Site site("MPI_Comm_free_keyval");
    return site.ok() ? free_keyval(site, number, Keyval::Owner::comm) : site.error();
}

int MPI_Keyval_free(int* number) {
    const Site site("MPI_Keyval_free");
    return site.ok() ? free_keyval(site, number, Keyval::Owner::comm) : site.error();
}

int MPI_Type_free_keyval(int* number) {
    const Site site("MPI_Type_free_keyval");
    return site.ok() ? free_keyval(site, number, Keyval::Owner::type) : site.error();
}

int MPI_Comm_set_attr(MPI_Comm comm, int number, void* value) {
    return set_for_comm(Site("MPI_Comm_set_attr", comm), comm, number, value);
}

int MPI_Attr_put(MPI_Comm comm, int number, void* value) {
    return set_for_comm(Site("MPI_Attr_put", comm), comm, number, value);
}

int MPI_Comm_get_attr(MPI_Comm comm, int number, void* result, int* flag) {
    return get_for_comm(Site("MPI_Comm_get_attr", comm), number, result, flag);
}

int MPI_Attr_get(MPI_Comm comm, int number, void* result, int* flag) {
    return get_for_comm(Site("MPI_Attr_get", comm), number, result, flag);
}

int MPI_Comm_delete_attr(MPI_Comm comm, int number) {
    return delete_for_comm(Site("MPI_Comm_delete_attr", comm), comm, number);
}

int MPI_Attr_delete(MPI_Comm comm, int number) {
    return delete_for_comm(Site("MPI_Attr_delete", comm), comm, number);
}

int MPI_Type_set_attr(MPI_Datatype type, int number, void* value) {
    const Site site("MPI_Type_set_attr");
    if (!site.ok()) return site.error();
    Use<Type> use;
    KeyvalRef keyval;
    if (const int wrong = site.use(type, use)) return site.raise(wrong);
    const int wrong = find_keyval(site, number, Keyval::Owner::type, keyval);
    if (wrong != MPI_SUCCESS) return site.raise(wrong);
    return set_attribute(site, use->attributes, type, keyval, value);
}

int MPI_Type_get_attr(MPI_Datatype type, int number, void* result, int* flag) {
    const Site site("MPI_Type_get_attr");
    if (!site.ok()) return site.error();
    Use<Type> use;
    if (const int wrong = site.use(type, use)) return site.raise(wrong);
    if (use->attributes.find(number) == nullptr) {
        KeyvalRef keyval;
        const int wrong = find_keyval(site, number, Keyval::Owner::type, keyval);
        if (wrong != MPI_SUCCESS) return site.raise(wrong);
    }
    return get_attribute(site, use->attributes, result, flag, number);
}

int MPI_Type_delete_attr(MPI_Datatype type, int number) {
    const Site site("MPI_Type_delete_attr");
    if (!site.ok()) return site.error();
    Use<Type> use;
    if (const int wrong = site.use(type, use)) return site.raise(wrong);
    if (use->attributes.find(number) == nullptr) {
        KeyvalRef keyval;
        const int wrong = find_keyval(site, number, Keyval::Owner::type, keyval);
        if (wrong != MPI_SUCCESS) return site.raise(wrong);
    }
    return conclude(site, use->attributes.erase(number, type));
}

}  // namespace dlrt::mpi

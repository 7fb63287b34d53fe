// SPDX-License-Identifier: Apache-2.0
/// Attributes of communicators and types: what callers hang on them under a key, with functions of
/// theirs that copy and delete. Thread: one at a time for each object; keys are for all threads.
#pragma once

#include <cstdint>
#include <memory>
#include <mpi.h>
#include <utility>
#include <vector>

namespace dlrt::mpi {

/// A key of the caller's. Lives as long as an attribute has it, freed or not.
struct Keyval {
    enum class Owner : std::uint8_t { comm, type, window };
    Owner owner = Owner::comm;
    int number = MPI_KEYVAL_INVALID;
    void* extra_state = nullptr;
    /// By owner; null: not copied, nothing to delete. The copy function 1 means "as it is".
    MPI_Comm_copy_attr_function* copy_comm = nullptr;
    MPI_Comm_delete_attr_function* delete_comm = nullptr;
    MPI_Type_copy_attr_function* copy_type = nullptr;
    MPI_Type_delete_attr_function* delete_type = nullptr;
};
using KeyvalRef = std::shared_ptr<const Keyval>;

/// Those in use. Any thread.
class Keyvals {
  public:
    [[nodiscard]] static Keyvals& get();
    [[nodiscard]] int add(Keyval keyval);
    /// Null for none such, and for one that is freed.
    [[nodiscard]] KeyvalRef find(int number) const;
    /// Also one that is freed and attached somewhere.
    [[nodiscard]] KeyvalRef find_attached(int number) const;
    void remove(int number);

  private:
    Keyvals();
    struct Inside;
    Inside* inside_;  ///< Never destroyed.
};

class Attributes {
  public:
    /// Null: there is none.
    [[nodiscard]] void** find(int keyval);
    /// The value before is deleted first. Returns what the caller's function said.
    template<typename Object>
    [[nodiscard]] int set(const KeyvalRef& keyval, void* value, Object object);
    template<typename Object>
    [[nodiscard]] int erase(int keyval, Object object);
    /// The last one set first. Stops at a function that says no.
    template<typename Object>
    [[nodiscard]] int erase_all(Object object);
    /// `from` is the object with these attributes, `to` gets the copies.
    template<typename Object>
    [[nodiscard]] int copy_to(Attributes& to, Object from) const;
    [[nodiscard]] bool is_empty() const { return entries_.empty(); }

  private:
    struct Entry {
        KeyvalRef keyval;
        void* value = nullptr;
    };
    std::vector<Entry> entries_;  ///< In the order in which they were set.
};

extern template int Attributes::set(const KeyvalRef&, void*, MPI_Comm);
extern template int Attributes::set(const KeyvalRef&, void*, MPI_Datatype);
extern template int Attributes::erase(int, MPI_Comm);
extern template int Attributes::erase(int, MPI_Datatype);
extern template int Attributes::erase_all(MPI_Comm);
extern template int Attributes::erase_all(MPI_Datatype);
extern template int Attributes::copy_to(Attributes&, MPI_Comm) const;
extern template int Attributes::copy_to(Attributes&, MPI_Datatype) const;

}  // namespace dlrt::mpi

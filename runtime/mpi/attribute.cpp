// SPDX-License-Identifier: Apache-2.0
#include "runtime/mpi/attribute.hpp"

#include <map>
#include <mutex>

namespace dlrt::mpi {

struct Keyvals::Inside {
    std::mutex mutex;
    struct Entry {
        KeyvalRef while_unfreed;
        std::weak_ptr<const Keyval> keyval;
    };
    std::map<int, Entry> keyvals;
    int next = 0x1000;  ///< Above those of the standard.
};

Keyvals::Keyvals() : inside_(new Inside) {
}

Keyvals& Keyvals::get() {
    static Keyvals* const keyvals = new Keyvals;
    return *keyvals;
}

int Keyvals::add(Keyval keyval) {
    const std::scoped_lock guard(inside_->mutex);
    keyval.number = inside_->next++;
    const int number = keyval.number;
    const auto made = std::make_shared<const Keyval>(keyval);
    inside_->keyvals[number] = {made, made};
    return number;
}

KeyvalRef Keyvals::find(int number) const {
    const std::scoped_lock guard(inside_->mutex);
    const auto found = inside_->keyvals.find(number);
    return found != inside_->keyvals.end() ? found->second.while_unfreed : nullptr;
}

KeyvalRef Keyvals::find_attached(int number) const {
    const std::scoped_lock guard(inside_->mutex);
    const auto found = inside_->keyvals.find(number);
    return found != inside_->keyvals.end() ? found->second.keyval.lock() : nullptr;
}

void Keyvals::remove(int number) {
    const std::scoped_lock guard(inside_->mutex);
    const auto found = inside_->keyvals.find(number);
    if (found == inside_->keyvals.end()) return;
    found->second.while_unfreed = nullptr;
    if (found->second.keyval.expired()) inside_->keyvals.erase(found);
}

namespace {

/// The number of the copy function that means "as it is": MPI_COMM_DUP_FN and its like.
constexpr std::uintptr_t copy_as_it_is = 1;

/// A copy that the caller's function has made, or not.
struct Copy {
    int code = MPI_SUCCESS;
    int is_made = 0;
    void* value = nullptr;
};

template<typename Function, typename Object>
Copy call_copy(Function* function, Object from, const Keyval& keyval, void* value) {
    Copy copy;
    if (function == nullptr) return copy;
    if (reinterpret_cast<std::uintptr_t>(function) == copy_as_it_is) return {MPI_SUCCESS, 1, value};
    copy.code = function(
        from, keyval.number, keyval.extra_state, value, static_cast<void*>(&copy.value),
        &copy.is_made
    );
    return copy;
}

Copy copy_of(const Keyval& keyval, void* value, MPI_Comm from) {
    return call_copy(keyval.copy_comm, from, keyval, value);
}
Copy copy_of(const Keyval& keyval, void* value, MPI_Datatype from) {
    return call_copy(keyval.copy_type, from, keyval, value);
}

int call_delete(const Keyval& keyval, void* value, MPI_Comm object) {
    if (keyval.delete_comm == nullptr) return MPI_SUCCESS;
    return keyval.delete_comm(object, keyval.number, value, keyval.extra_state);
}
int call_delete(const Keyval& keyval, void* value, MPI_Datatype object) {
    if (keyval.delete_type == nullptr) return MPI_SUCCESS;
    return keyval.delete_type(object, keyval.number, value, keyval.extra_state);
}

}  // namespace

void** Attributes::find(int keyval) {
    for (Entry& entry : entries_) {
        if (entry.keyval->number == keyval) return &entry.value;
    }
    return nullptr;
}

template<typename Object>
int Attributes::set(const KeyvalRef& keyval, void* value, Object object) {
    void** const place = find(keyval->number);
    if (place == nullptr) {
        entries_.push_back({keyval, value});
        return MPI_SUCCESS;
    }
    const int said = call_delete(*keyval, *place, object);
    if (said != MPI_SUCCESS) return said;
    // The caller's function may have changed the list.
    void** const now = find(keyval->number);
    if (now != nullptr) {
        *now = value;
    } else {
        entries_.push_back({keyval, value});
    }
    return MPI_SUCCESS;
}

template<typename Object>
int Attributes::erase(int keyval, Object object) {
    for (std::size_t i = 0; i < entries_.size(); ++i) {
        if (entries_[i].keyval->number != keyval) continue;
        const Entry entry = entries_[i];
        const int said = call_delete(*entry.keyval, entry.value, object);
        if (said != MPI_SUCCESS) return said;
        std::erase_if(entries_, [&](const Entry& other) { return other.keyval == entry.keyval; });
        return MPI_SUCCESS;
    }
    return MPI_SUCCESS;
}

template<typename Object>
int Attributes::erase_all(Object object) {
    while (!entries_.empty()) {
        const int said = erase(entries_.back().keyval->number, object);
        if (said != MPI_SUCCESS) return said;
    }
    return MPI_SUCCESS;
}

template<typename Object>
int Attributes::copy_to(Attributes& to, Object from) const {
    for (const Entry& entry : std::vector<Entry>(entries_)) {
        const Copy copy = copy_of(*entry.keyval, entry.value, from);
        if (copy.code != MPI_SUCCESS) return copy.code;
        if (copy.is_made != 0) to.entries_.push_back({entry.keyval, copy.value});
    }
    return MPI_SUCCESS;
}

template int Attributes::set(const KeyvalRef&, void*, MPI_Comm);
template int Attributes::set(const KeyvalRef&, void*, MPI_Datatype);
template int Attributes::erase(int, MPI_Comm);
template int Attributes::erase(int, MPI_Datatype);
template int Attributes::erase_all(MPI_Comm);
template int Attributes::erase_all(MPI_Datatype);
template int Attributes::copy_to(Attributes&, MPI_Comm) const;
template int Attributes::copy_to(Attributes&, MPI_Datatype) const;

}  // namespace dlrt::mpi

# SPDX-License-Identifier: GPL-2.0
# Bugs that a reviewer could miss, one to a copy of the state machine. The model check has to find each: model_check_test.cpp
# says by which invariant. A text that is no longer in the source stops the configuration: seed the bug anew.

# mutate(NAME FILE OLD NEW): folder mutants/NAME with the two files, OLD replaced by NEW in FILE; a module of it.
function(mutate name file old new)
    set(folder ${CMAKE_CURRENT_BINARY_DIR}/mutants/${name})
    foreach(each amdgpu_hotplug_state.c amdgpu_hotplug_state.h)
        file(READ ${HOTPLUG_SOURCE}/${each} text)
        if(each STREQUAL file)
            string(FIND "${text}" "${old}" found)
            if(found EQUAL -1)
                message(FATAL_ERROR "mutation ${name}: ${file} has no '${old}'")
            endif()
            string(REPLACE "${old}" "${new}" text "${text}")
        endif()
        file(CONFIGURE OUTPUT ${folder}/${each} CONTENT "${text}" @ONLY)
    endforeach()
    add_state_module(${name} ${folder})
endfunction()

set(source amdgpu_hotplug_state.c)
set(header amdgpu_hotplug_state.h)

# The phase is written without a look at what came in between.
mutate(lose_by_two_steps ${source}
    "!atomic_try_cmpxchg(&state->word, &old,
				     (old & ~clear) | to)"
    "(atomic_set(&state->word, (old & ~clear) | to), false)")
# Who fails to change the phase never reads it again.
mutate(retry_with_stale_word ${source}
    "} while (!atomic_try_cmpxchg(&state->word, &old,"
    "} while (!atomic_try_cmpxchg(&state->word, &(int){ old },")
# A change of phase forgets the reset that runs.
mutate(phase_change_ends_reset ${source}
    "(old & ~clear) | to" "(old & ~(clear | AMDGPU_HOTPLUG_RESETTING)) | to")
# Everybody who finds out announces.
mutate(every_loss_is_new ${source}
    "return (old & AMDGPU_HOTPLUG_PHASE_MASK) < AMDGPU_HOTPLUG_LOST;" "return old >= 0;")
# Nobody does.
mutate(no_loss_is_new ${source}
    "return (old & AMDGPU_HOTPLUG_PHASE_MASK) < AMDGPU_HOTPLUG_LOST;" "return old < 0;")
# A late report of loss brings an unbound GPU back to LOST.
mutate(loss_after_the_end ${source}
    "AMDGPU_HOTPLUG_PRESENT,
					     AMDGPU_HOTPLUG_LOST,
					     AMDGPU_HOTPLUG_LOST);"
    "AMDGPU_HOTPLUG_PRESENT,
					     AMDGPU_HOTPLUG_GONE + 1,
					     AMDGPU_HOTPLUG_LOST);")
# The removal of a lost GPU takes the loss back.
mutate(removal_forgets_loss ${source}
    "AMDGPU_HOTPLUG_REMOVING,
				   AMDGPU_HOTPLUG_REMOVING);"
    "AMDGPU_HOTPLUG_GONE,
				   AMDGPU_HOTPLUG_REMOVING);")
# The removal is told what it asked for, not what is.
mutate(removal_ignores_loss ${source}
    "return amdgpu_hotplug_state_phase(state);" "return AMDGPU_HOTPLUG_REMOVING;")
# A reset asks only whether another one runs.
mutate(reset_in_any_phase ${source}
    "	do {
		if ((old & ~AMDGPU_HOTPLUG_SUSPECT) != AMDGPU_HOTPLUG_PRESENT)
			return false;
	} while (!atomic_try_cmpxchg(&state->word, &old,
				     AMDGPU_HOTPLUG_PRESENT |
				     AMDGPU_HOTPLUG_RESETTING));

	return true;"
    "return old >= 0 && !(atomic_fetch_or(AMDGPU_HOTPLUG_RESETTING, &state->word) &
				  AMDGPU_HOTPLUG_RESETTING);")
# A reset asks for the phase first and begins afterwards.
mutate(reset_asks_then_begins ${source}
    "	do {
		if ((old & ~AMDGPU_HOTPLUG_SUSPECT) != AMDGPU_HOTPLUG_PRESENT)
			return false;
	} while (!atomic_try_cmpxchg(&state->word, &old,
				     AMDGPU_HOTPLUG_PRESENT |
				     AMDGPU_HOTPLUG_RESETTING));

	return true;"
    "return old == AMDGPU_HOTPLUG_PRESENT &&
	       !(atomic_fetch_or(AMDGPU_HOTPLUG_RESETTING, &state->word) &
				  AMDGPU_HOTPLUG_RESETTING);")
# The end of a reset makes the GPU present, whatever happened meanwhile.
mutate(reset_revives ${source}
    "atomic_fetch_andnot(AMDGPU_HOTPLUG_RESETTING, &state->word)"
    "atomic_fetch_andnot(~0, &state->word)")
# The reset never ends: removal would wait for ever.
mutate(reset_never_ends ${source}
    "atomic_fetch_andnot(AMDGPU_HOTPLUG_RESETTING, &state->word)"
    "atomic_fetch_andnot(0, &state->word)")
# The removal of a lost GPU does not end.
mutate(lost_is_never_gone ${source}
    "amdgpu_hotplug_state_raise(state, AMDGPU_HOTPLUG_REMOVING,
					     AMDGPU_HOTPLUG_GONE,
					     AMDGPU_HOTPLUG_GONE);"
    "amdgpu_hotplug_state_raise(state, AMDGPU_HOTPLUG_REMOVING,
					     AMDGPU_HOTPLUG_LOST,
					     AMDGPU_HOTPLUG_GONE);")
# One word for all GPUs of the machine.
mutate(one_word_for_all ${source}
    "bool amdgpu_hotplug_state_lose(struct amdgpu_hotplug_state *state)
{"
    "bool amdgpu_hotplug_state_lose(struct amdgpu_hotplug_state *state)
{
	static struct amdgpu_hotplug_state all;

	state = &all;")
# User space gets in while the driver is being unbound.
mutate(admits_while_removing ${header}
    "return amdgpu_hotplug_state_phase(state) == AMDGPU_HOTPLUG_PRESENT;"
    "return amdgpu_hotplug_state_phase(state) <= AMDGPU_HOTPLUG_REMOVING;")
# User space never gets in.
mutate(never_admits ${header}
    "return amdgpu_hotplug_state_phase(state) == AMDGPU_HOTPLUG_PRESENT;"
    "return amdgpu_hotplug_state_phase(state) > AMDGPU_HOTPLUG_GONE;")
# The teardown of a lost GPU writes to it.
mutate(access_after_loss ${header}
    "(word & AMDGPU_HOTPLUG_PHASE_MASK) < AMDGPU_HOTPLUG_LOST"
    "(word & AMDGPU_HOTPLUG_PHASE_MASK) <= AMDGPU_HOTPLUG_LOST")
# An orderly removal cannot quiesce the hardware.
mutate(no_access_in_removal ${header}
    "(word & AMDGPU_HOTPLUG_PHASE_MASK) < AMDGPU_HOTPLUG_LOST"
    "(word & AMDGPU_HOTPLUG_PHASE_MASK) < AMDGPU_HOTPLUG_REMOVING")
# Removal does not wait for the reset that runs.
mutate(teardown_in_reset ${header}
    "return atomic_read_acquire(&state->word) & AMDGPU_HOTPLUG_RESETTING;"
    "return atomic_read_acquire(&state->word) == AMDGPU_HOTPLUG_RESETTING;")
# Removal waits although no reset runs, for ever.
mutate(waits_for_nothing ${header}
    "return atomic_read_acquire(&state->word) & AMDGPU_HOTPLUG_RESETTING;"
    "return atomic_read_acquire(&state->word) >= AMDGPU_HOTPLUG_PRESENT;")
# The removal of a lost GPU is not told that it ended.
mutate(end_of_lost_is_no_end ${source}
    "return phase == AMDGPU_HOTPLUG_REMOVING || phase == AMDGPU_HOTPLUG_LOST;"
    "return phase == AMDGPU_HOTPLUG_REMOVING;")
# The beginning of a removal closes nothing.
mutate(removal_closes_nothing ${source}
    "AMDGPU_HOTPLUG_REMOVING,
				   AMDGPU_HOTPLUG_REMOVING);"
    "AMDGPU_HOTPLUG_PRESENT,
				   AMDGPU_HOTPLUG_REMOVING);")
# No GPU is ever reset.
mutate(never_resets ${source}
    "if ((old & ~AMDGPU_HOTPLUG_SUSPECT) != AMDGPU_HOTPLUG_PRESENT)" "if (old >= AMDGPU_HOTPLUG_PRESENT)")
# Who is lost for good is suspected as well.
mutate(suspect_after_loss ${source}
    "if (old & AMDGPU_HOTPLUG_SUSPECT ||
		    (old & AMDGPU_HOTPLUG_PHASE_MASK) >= AMDGPU_HOTPLUG_LOST)"
    "if (old & AMDGPU_HOTPLUG_SUSPECT)")
# A loss does not end the suspicion.
mutate(loss_keeps_suspicion ${source}
    "clear |= AMDGPU_HOTPLUG_SUSPECT;" "clear |= AMDGPU_HOTPLUG_PHASE_MASK;")
# Silent hardware is used on.
mutate(suspicion_stops_nothing ${header}
    "return !(word & AMDGPU_HOTPLUG_SUSPECT) &&
	       (word" "return (word")
# Nobody is suspected.
mutate(suspects_nobody ${source} "old | AMDGPU_HOTPLUG_SUSPECT)" "old)")
# Hardware that answers again is never used again.
mutate(never_trusts ${source}
    "atomic_fetch_andnot(AMDGPU_HOTPLUG_SUSPECT, &state->word)"
    "atomic_fetch_andnot(0, &state->word)")
# What is reset stays suspected.
mutate(reset_keeps_suspicion ${source}
    "AMDGPU_HOTPLUG_PRESENT |
				     AMDGPU_HOTPLUG_RESETTING));"
    "old | AMDGPU_HOTPLUG_RESETTING));")
# What is suspected cannot be reset.
mutate(suspect_is_not_reset ${source}
    "if ((old & ~AMDGPU_HOTPLUG_SUSPECT) != AMDGPU_HOTPLUG_PRESENT)" "if (old != AMDGPU_HOTPLUG_PRESENT)")

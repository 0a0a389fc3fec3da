import type { Message } from './message.ts';

type State = 'visible' | 'cleared' | 'deleted';

/** Folds messages that update each other into the latest one, as clients do. Expects events from newest to oldest. */
export class Sequences {
  readonly #states = new Map<string, State>();

  /** Returns the state of an event: a visible or cleared message; undefined when it is not displayed. */
  add({ event, id, sequence_id: sequence = id }: Message): 'visible' | 'cleared' | undefined {
    const state = this.#states.get(sequence);
    if (event === 'message_clear' || event === 'message_delete') {
      if (state === undefined) this.#states.set(sequence, event === 'message_clear' ? 'cleared' : 'deleted');
      return undefined;
    }
    if (event !== 'message' || state === 'visible' || state === 'deleted') return undefined;
    this.#states.set(sequence, 'visible');
    return state ?? 'visible';
  }

  /** Returns the sequences in this state whose message was not among the events. */
  withoutMessage(state: 'cleared' | 'deleted'): string[] {
    return [...this.#states].flatMap(([sequence, entryState]) => (entryState === state ? [sequence] : []));
  }
}

import type { Message } from './message.ts';

type State = 'shown' | 'cleared' | 'deleted';

/**
 * Folds messages that update each other into the latest one, as the clients do. Give it all events from the newest to the oldest.
 */
export class Sequences {
  readonly #states = new Map<string, State>();

  /** How an event counts: a message that is to be shown, perhaps as cleared; undefined for what is not shown. */
  take({ event, id, sequence_id: sequence = id }: Message): 'shown' | 'cleared' | undefined {
    const known = this.#states.get(sequence);
    if (event === 'message_clear' || event === 'message_delete') {
      if (known === undefined) this.#states.set(sequence, event === 'message_clear' ? 'cleared' : 'deleted');
      return undefined;
    }
    if (event !== 'message' || known === 'shown' || known === 'deleted') return undefined;
    this.#states.set(sequence, 'shown');
    return known ?? 'shown';
  }

  /** Sequences in this state whose message was not among the events. */
  those(state: 'cleared' | 'deleted'): string[] {
    return [...this.#states].flatMap(([sequence, known]) => (known === state ? [sequence] : []));
  }
}

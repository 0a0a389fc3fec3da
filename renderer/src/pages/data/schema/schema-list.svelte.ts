import { toasts } from '../../../state/toasts.svelte.ts';
import { Loadable } from '../../../state/loadable.svelte.ts';
import { runAsOwner } from '../owner-statement.ts';

/** Objects of one kind in the served schemas. */
export class SchemaList<Reply> extends Loadable {
  reply = $state.raw<Reply>();
  readonly #read: () => Promise<Reply>;

  constructor(read: () => Promise<Reply>) {
    super();
    this.#read = read;
  }

  async load(): Promise<void> {
    await this.readLatest(this.#read, (reply) => (this.reply = reply));
  }

  /** Runs a change, shows its error, and loads the list. Resolves to false after an error. */
  async change(work: () => Promise<unknown>): Promise<boolean> {
    try {
      await work();
      return true;
    } catch (error) {
      toasts.showError(error);
      return false;
    } finally {
      await this.load();
    }
  }

  /** Drops an object and offers to restore it. */
  async drop(message: string, work: () => Promise<{ readonly undo: string }>): Promise<boolean> {
    return this.change(async () => {
      const { undo } = await work();
      const restore = async (): Promise<void> => {
        await runAsOwner(undo);
        await this.load();
      };
      toasts.show(message, undo === '' ? {} : { undo: restore });
    });
  }
}

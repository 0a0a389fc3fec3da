import { Problem } from '../../contracts/problem.ts';
import type { Context } from '../../contracts/service.ts';
import type { Identity } from '../../contracts/control/accounts.ts';

const patience = 5 * 60_000;

/** A password was right, and the code is still missing. */
interface Waiting {
  readonly identity: Identity;
  readonly secret: string;
  readonly until: Disposable;
}

/** Sessions that nobody holds yet: they end when the code does not come in time. */
export class SecondStep {
  readonly #parts: Pick<Context, 'accounts' | 'clock' | 'log' | 'random'>;
  readonly #waiting = new Map<string, Waiting>();

  constructor(parts: Pick<Context, 'accounts' | 'clock' | 'log' | 'random'>) {
    this.#parts = parts;
  }

  /** What the page sends back with the code. */
  begin(identity: Identity, secret: string): string {
    const { accounts, clock, log, random } = this.#parts;
    const ticket = random.text(32);
    const until = clock.after(patience, () => {
      this.#waiting.delete(ticket);
      accounts.signOut(identity).catch((error: unknown) => log.error('a session without its code stayed', { error }));
    });
    this.#waiting.set(ticket, { identity, secret, until });
    return ticket;
  }

  /** @throws Problem `gateway.too_late` (401) */
  of(ticket: string): Waiting {
    const waiting = this.#waiting.get(ticket);
    if (waiting !== undefined) return waiting;
    throw new Problem('gateway.too_late', 401, 'That took too long. Begin with your password again.');
  }

  /** The session is given out. */
  end(ticket: string): void {
    this.#waiting.get(ticket)?.until[Symbol.dispose]();
    this.#waiting.delete(ticket);
  }
}

import { controlApi } from '../../../services/contracts/control/api.ts';
import type { Role } from '../../../services/contracts/control/accounts.ts';
import { call, onRefused, sentence } from '../api/call.ts';
import { live } from './live.svelte.ts';

interface Person {
  readonly name: string;
  readonly role: Role;
}

/** Who is signed in here. */
class Session {
  phase = $state<'loading' | 'unreachable' | 'setup' | 'signed-out' | 'signed-in'>('loading');
  person = $state<Person | null>(null);
  safeMode = $state(false);
  version = $state('');
  trouble = $state('');
  readonly admin = $derived(this.person?.role === 'admin');

  constructor() {
    onRefused(() => this.#leave());
    live.onClosed(() => void this.load());
  }

  /** Asks the host; a host that does not answer leaves a signed-in page as it is. */
  async load(): Promise<void> {
    try {
      const { account, setupNeeded, safeMode, version } = await call(controlApi.session);
      this.safeMode = safeMode;
      this.version = version;
      if (account) this.#enter(account);
      else if (this.phase === 'signed-in') this.#leave();
      else this.phase = setupNeeded ? 'setup' : 'signed-out';
    } catch (error) {
      this.trouble = sentence(error);
      if (this.phase === 'loading') this.phase = 'unreachable';
    }
  }

  /** @throws Problem with a sentence for the form. */
  async signIn(name: string, password: string): Promise<void> {
    this.#enter(await call(controlApi.signIn, { body: { name, password } }));
  }

  /** Makes the first administrator; `then` runs before the pages are shown. @throws Problem, with `fields` where they do not fit. */
  async setUp(code: string, name: string, password: string, then: () => void): Promise<void> {
    await call(controlApi.setup, { body: { code, name, password } });
    then();
    this.#enter({ name, role: 'admin' });
  }

  async signOut(): Promise<void> {
    await call(controlApi.signOut);
    this.#leave();
  }

  #enter(person: Person): void {
    this.person = person;
    this.phase = 'signed-in';
    live.start();
  }

  #leave(): void {
    live.stop();
    this.person = null;
    this.phase = 'signed-out';
  }
}

export const session = new Session();

import { controlApi } from '../../../services/contracts/control/api.ts';
import type { Role } from '../../../services/contracts/control/accounts.ts';
import type { PasskeyResponse } from '../../../services/contracts/control/second-factor.ts';
import { call, onRefused, sentence, sessionSettled } from '../api/call.ts';
import { sessionSecret } from '../api/session-secret.ts';
import { bridge } from './bridge.ts';
import { links } from './links.svelte.ts';
import { live } from './live.svelte.ts';
import { toasts } from './toasts.svelte.ts';

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
  /** The session ended while pages were open: they stay behind the sign-in with what was typed, for the same person. */
  interrupted = $state(false);
  /** Another one is another person's: nothing of the pages before is theirs. */
  visit = $state(0);
  readonly admin = $derived(this.person?.role === 'admin');
  readonly #beforeSignOut = new Set<() => Promise<void>>();

  constructor() {
    onRefused(() => this.#interrupt());
    live.onClosed(() => void this.load());
  }

  /** Asks the host; a host that does not answer leaves a signed-in page as it is. */
  async load(): Promise<void> {
    const before = sessionSecret.current();
    // Most who come have a session that holds: the stream, behind which lists are read, opens meanwhile.
    if (this.phase === 'loading' && before !== null) live.start();
    try {
      const { account, setupNeeded, safeMode, version } = await this.#ask();
      this.safeMode = safeMode;
      this.version = version;
      if (account) this.#enter(account);
      // Somebody has signed in meanwhile: that answer was about the session before.
      else if (sessionSecret.current() !== before) await this.load();
      else if (this.phase === 'signed-in') this.#interrupt();
      else {
        live.stop();
        this.phase = setupNeeded ? 'setup' : 'signed-out';
      }
    } catch (error) {
      this.trouble = sentence(error);
      if (this.phase === 'loading') this.phase = 'unreachable';
    }
  }

  /** In the desktop window the app has signed in; who signed out there, or was never, shows himself by password. */
  async #ask() {
    await sessionSettled();
    const told = await call(controlApi.session);
    const given = told.account === null ? await bridge?.session(undefined) : undefined;
    if (given === undefined || given === null) return told;
    sessionSecret.hold(given);
    return call(controlApi.session);
  }

  /**
   * Returns the ticket for {@link completeSignIn} where the account has a second factor.
   * @throws Problem with a sentence for the form.
   */
  async signIn(name: string, password: string): Promise<string | undefined> {
    const reply = await call(controlApi.signIn, { body: { name, password } });
    if ('ticket' in reply) return reply.ticket;
    const { session, ...person } = reply;
    sessionSecret.keep(session);
    this.#enter(person);
    return undefined;
  }

  /** @throws Problem with a sentence for the form. */
  async completeSignIn(ticket: string, proof: { code: string } | { passkey: PasskeyResponse }): Promise<void> {
    const { session, ...person } = await call(controlApi.secondStep, { body: { ticket, ...proof } });
    sessionSecret.keep(session);
    this.#enter(person);
  }

  /** Makes the first administrator; `then` runs before the pages are shown. @throws Problem, with `fields` where they do not fit. */
  async setUp(code: string, name: string, password: string, then: () => void): Promise<void> {
    const { session } = await call(controlApi.setup, { body: { code, name, password } });
    sessionSecret.keep(session);
    then();
    this.#enter({ name, role: 'admin' });
  }

  /** Called while who signs out still is who they were; it must not throw. Answers the way to take it back. */
  onSignOut(listener: () => Promise<void>): () => void {
    this.#beforeSignOut.add(listener);
    return () => this.#beforeSignOut.delete(listener);
  }

  async signOut(): Promise<void> {
    // Who leaves has not taken back what can still be undone.
    await toasts.closeAll();
    await Promise.all([...this.#beforeSignOut].map((listener) => listener()));
    await call(controlApi.signOut);
    sessionSecret.forget();
    this.#leave();
  }

  #enter(person: Person): void {
    if (this.person !== null && this.person.name !== person.name) this.visit += 1;
    // What is open behind the sign-in shows its pictures by the links of the session before, until there are new ones.
    if (this.interrupted) links.forget();
    this.interrupted = false;
    this.person = person;
    this.phase = 'signed-in';
    live.start();
  }

  #interrupt(): void {
    if (this.phase === 'signed-in') {
      this.interrupted = true;
      live.stop();
    } else if (this.interrupted) return;
    this.phase = 'signed-out';
  }

  #leave(): void {
    this.interrupted = false;
    live.stop();
    links.forget();
    this.person = null;
    this.phase = 'signed-out';
  }
}

export const session = new Session();

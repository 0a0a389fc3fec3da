import { ownAccountApi } from '../../../services/contracts/control/access.ts';
import { controlApi } from '../../../services/contracts/control/api.ts';
import type { Role } from '../../../services/contracts/control/accounts.ts';
import type { SignedIn } from '../../../services/contracts/control/one-time-link-routes.ts';
import type { PasskeyResponse } from '../../../services/contracts/control/second-factor.ts';
import { call, onEnrollmentRequired, onSessionRefused, formatError, waitForRenewal } from '../api/call.ts';
import { sessionSecret } from '../api/session-secret.ts';
import { bridge } from './bridge.ts';
import { links } from './links.svelte.ts';
import { language } from './language.svelte.ts';
import { live } from './live.svelte.ts';
import { getServerPlatform, setServerPlatform } from './server-platform.ts';
import { toasts } from './toasts.svelte.ts';

interface SignedInAccount {
  readonly name: string;
  readonly role: Role;
  readonly needsEnrollment?: true | undefined;
  readonly language?: string | undefined;
}

/** The signed-in account and the state of its session. */
class Session {
  /** `enrollment`: signed in, but the account must set up a second factor before it may do anything else. */
  phase = $state<'loading' | 'unreachable' | 'setup' | 'signed-out' | 'enrollment' | 'signed-in'>('loading');
  account = $state<SignedInAccount | null>(null);
  safeMode = $state(false);
  version = $state('');
  error = $state('');
  /**
   * The session ended while pages were open. They stay behind the sign-in with their unsaved input, for the same
   * account.
   */
  interrupted = $state(false);
  /** The stored session was refused: it was ended elsewhere, or it expired. The sign-in page says so. */
  hasExpired = $state(false);
  /** Incremented when another account signs in; the pages are then created again. */
  generation = $state(0);
  /** Account that was signed in last on this page, also after a sign-out. */
  #lastName: string | undefined;
  readonly isAdmin = $derived(this.account?.role === 'admin');
  readonly #beforeSignOut = new Set<() => Promise<void>>();

  constructor() {
    toasts.canOpenLog = () => this.isAdmin;
    onSessionRefused(() => this.#interrupt());
    onEnrollmentRequired(() => void (this.phase === 'enrollment' || this.load()));
    live.onClosed(() => void this.load());
    language.onChange(() => {
      // Lists need a session; on the sign-in page there are none.
      if (this.phase === 'signed-in') live.changeLanguage();
    });
  }

  /** Loads the session. A host that does not respond leaves a signed-in page unchanged. */
  async load(): Promise<void> {
    const before = sessionSecret.current();
    // Most visitors have a valid session: the event stream, which lists wait for, is opened at the same time.
    if (this.phase === 'loading' && before !== null) live.start();
    try {
      const { account, setupNeeded, safeMode, version, platform } = await this.#readSession();
      this.safeMode = safeMode;
      this.version = version;
      if (platform !== null) setServerPlatform(platform);
      if (account) this.#enter(account);
      // Another session was started in the meantime: the reply was about the previous one.
      else if (sessionSecret.current() !== before) await this.load();
      else if (this.phase === 'signed-in') this.#interrupt();
      else {
        live.stop();
        this.hasExpired = before !== null;
        this.phase = setupNeeded ? 'setup' : 'signed-out';
      }
    } catch (error) {
      this.error = formatError(error);
      if (this.phase === 'loading') this.phase = 'unreachable';
    }
  }

  /**
   * In the desktop window the app provides a session; after a sign-out there, or without an account, the user signs
   * in with a password.
   */
  async #readSession() {
    await waitForRenewal();
    const current = await call(controlApi.session);
    const desktopSession = current.account === null ? await bridge?.session(undefined) : undefined;
    if (desktopSession === undefined || desktopSession === null) return current;
    sessionSecret.setForPage(desktopSession);
    return call(controlApi.session);
  }

  /**
   * Signs in with a password. Returns the ticket for {@link completeSignIn} when the account has a second factor.
   * @throws Problem with a message for the form.
   */
  async signIn(name: string, password: string): Promise<string | undefined> {
    const reply = await call(controlApi.signIn, { body: { name, password } });
    if ('ticket' in reply) return reply.ticket;
    const { session, ...account } = reply;
    sessionSecret.store(session);
    this.#enter(account);
    return undefined;
  }

  /**
   * Completes a sign-in with the second factor.
   * @throws Problem with a message for the form.
   */
  async completeSignIn(ticket: string, proof: { code: string } | { passkey: PasskeyResponse }): Promise<void> {
    const { session, ...account } = await call(controlApi.secondStep, { body: { ticket, ...proof } });
    sessionSecret.store(session);
    this.#enter(account);
  }

  /**
   * Creates the first administrator; `then` runs before the pages are shown.
   * @throws Problem, with `fields` for invalid input.
   */
  async setUp(code: string, name: string, password: string, then: () => void): Promise<void> {
    const { session, needsEnrollment } = await call(controlApi.setup, { body: { code, name, password } });
    sessionSecret.store(session);
    then();
    this.#enter({ name, role: 'admin', needsEnrollment });
  }

  /**
   * Signs in after a one-time link was used; `then` runs before the pages are shown. Returns the ticket for
   * {@link completeSignIn} when the account has a second factor.
   */
  enterByLink(reply: SignedIn, then: () => void): string | undefined {
    if ('ticket' in reply) return reply.ticket;
    const { session, ...account } = reply;
    sessionSecret.store(session);
    then();
    this.#enter(account);
    return undefined;
  }

  /**
   * Registers a function that runs before a sign-out, while the session is still valid; it must not throw. Returns a
   * function that removes it.
   */
  onSignOut(listener: () => Promise<void>): () => void {
    this.#beforeSignOut.add(listener);
    return () => this.#beforeSignOut.delete(listener);
  }

  /** Selects the language of the pages in this browser and, for the signed-in account, in every other one. */
  async chooseLanguage(choice: string): Promise<void> {
    await language.choose(choice);
    if (this.account === null || this.account.needsEnrollment === true) return;
    await call(ownAccountApi.changeLanguage, { body: { language: choice } });
    this.account = { ...this.account, language: choice === '' ? undefined : choice };
  }

  async signOut(): Promise<void> {
    // Removals that could still be undone are carried out before the sign-out.
    await toasts.closeAll();
    await Promise.all([...this.#beforeSignOut].map((listener) => listener()));
    await call(controlApi.signOut);
    sessionSecret.clear();
    this.#clear();
  }

  /** Loads what only signed-in accounts are told about the host. */
  async #loadPlatform(): Promise<void> {
    try {
      setServerPlatform((await call(controlApi.session)).platform ?? '');
    } catch {
      // Examples then are those of Linux.
    }
  }

  #enter(account: SignedInAccount): void {
    const previousName = this.#lastName;
    this.#lastName = account.name;
    if (previousName !== undefined && previousName !== account.name && sessionSecret.isStored()) {
      // Lists, searches and drafts of the previous account are still in the memory of this page.
      location.reload();
      return;
    }
    if (this.account !== null && this.account.name !== account.name) this.generation += 1;
    // Links of the previous session are cleared, so that open pages request new ones.
    if (this.interrupted) links.clear();
    this.interrupted = false;
    this.hasExpired = false;
    this.account = account;
    if (account.language !== undefined && account.language !== language.choice) void language.choose(account.language);
    if (account.needsEnrollment === true) {
      // The host refuses the event stream until the second factor is set up.
      live.stop();
      this.phase = 'enrollment';
      return;
    }
    this.phase = 'signed-in';
    if (getServerPlatform() === '') void this.#loadPlatform();
    live.start();
  }

  #interrupt(): void {
    if (this.phase === 'signed-in') {
      this.interrupted = true;
      live.stop();
    } else if (this.interrupted) return;
    this.phase = 'signed-out';
  }

  #clear(): void {
    this.interrupted = false;
    this.hasExpired = false;
    live.stop();
    links.clear();
    this.account = null;
    this.phase = 'signed-out';
  }
}

export const session = new Session();

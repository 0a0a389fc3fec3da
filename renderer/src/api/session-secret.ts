import { sessionHeader } from '../../../services/contracts/session.ts';

/**
 * Local storage belongs to this origin including the port; a cookie would be sent to every other server on this
 * computer.
 */
const storageKey = 'homeport.session';

/**
 * The secret in memory: used where the browser refuses storage, and in the desktop window, where the app passes it at
 * each start.
 */
let memorySecret: string | null = null;

/** The secret of the browser's session, which is sent with each call. */
export const sessionSecret = {
  /** Sets the secret for this page only. */
  setForPage(secret: string): void {
    memorySecret = secret;
  },

  /** Stores the secret for all tabs and later visits. */
  store(secret: string): void {
    memorySecret = null;
    try {
      localStorage.setItem(storageKey, secret);
    } catch {
      // The browser refuses storage: the session lasts as long as the page is open.
      memorySecret = secret;
    }
  },

  clear(): void {
    memorySecret = null;
    try {
      localStorage.removeItem(storageKey);
    } catch {
      // The browser refuses storage, so there is nothing to remove.
    }
  },

  current(): string | null {
    return memorySecret ?? readStored();
  },

  /** Returns true if the session lasts when the page is loaded again. */
  isStored(): boolean {
    return memorySecret === null && readStored() !== null;
  },

  headers(): Readonly<Record<string, string>> {
    const secret = this.current();
    return secret === null ? {} : { [sessionHeader]: secret };
  },
};

/** Reads the storage at each call, because another tab may have signed in or out. */
function readStored(): string | null {
  try {
    return localStorage.getItem(storageKey);
  } catch {
    return null;
  }
}

import { sessionHeader } from '../../../services/contracts/session.ts';

/** Storage is of this origin alone, port included; a cookie would go to every other server on this machine. */
const place = 'homeport.session';

/** Where the browser keeps nothing, and in the desktop window, whose app gives it anew at each start. */
let held: string | null = null;

/** The secret of this browser's session, which each call brings. */
export const sessionSecret = {
  /** Until this page goes. */
  hold(secret: string): void {
    held = secret;
  },

  /** For all tabs, and for the next visit. */
  keep(secret: string): void {
    held = null;
    try {
      localStorage.setItem(place, secret);
    } catch {
      // The browser keeps nothing for this page: it stays signed in as long as it is open.
      held = secret;
    }
  },

  forget(): void {
    held = null;
    try {
      localStorage.removeItem(place);
    } catch {
      // Nothing was kept.
    }
  },

  current(): string | null {
    return held ?? stored();
  },

  headers(): Readonly<Record<string, string>> {
    const secret = this.current();
    return secret === null ? {} : { [sessionHeader]: secret };
  },
};

/** Read at each call: another tab may have signed in or out. */
function stored(): string | null {
  try {
    return localStorage.getItem(place);
  } catch {
    return null;
  }
}

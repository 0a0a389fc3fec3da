import { page } from '../proxy/html.ts';
import { escapeHtml } from '../../kit/escape-html.ts';

interface Said {
  readonly name?: string;
  /** Why the last attempt failed. */
  readonly trouble?: string;
  /** The service that opens then. */
  readonly where?: string | undefined;
  readonly provider?: string | undefined;
}

/** Where one signs in. */
export function signInPage(to: string, { name = '', trouble = '', where, provider }: Said = {}): string {
  const alert = trouble === '' ? '' : `<p role="alert">${escapeHtml(trouble)}</p>`;
  return page(
    'Sign in',
    `<h1>Sign in</h1>
<p>Your Homeport account opens ${where === undefined ? 'what is shared on this network' : `<strong>${escapeHtml(where)}</strong>, and what else is shared on this network`}.</p>
${alert}
<form method="post" action="/.homeport/sign-in">
<input type="hidden" name="to" value="${escapeHtml(to)}">
<label for="name">Name</label>
<input id="name" name="name" value="${escapeHtml(name)}" autocomplete="username" autocapitalize="none" spellcheck="false" required autofocus>
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required>
<button>Sign in</button>
</form>${provider === undefined ? '' : byProvider(to, provider)}`,
  );
}

function byProvider(to: string, provider: string): string {
  const address = escapeHtml(`/.homeport/oidc?to=${encodeURIComponent(to)}`);
  return `
<p class="or">or</p>
<a class="button quiet" href="${address}">Sign in with ${escapeHtml(provider)}</a>`;
}

/** Where the code is asked for once the password was right. */
export function codePage(to: string, ticket: string, trouble = ''): string {
  const alert = trouble === '' ? '' : `<p role="alert">${escapeHtml(trouble)}</p>`;
  return page(
    'Your code',
    `<h1>Your code</h1>
<p>Type the code that your authenticator app shows, or one of your recovery codes.</p>
${alert}
<form method="post" action="/.homeport/sign-in">
<input type="hidden" name="to" value="${escapeHtml(to)}">
<input type="hidden" name="ticket" value="${escapeHtml(ticket)}">
<label for="code">Code</label>
<input id="code" name="code" autocomplete="one-time-code" inputmode="numeric" autocapitalize="none" spellcheck="false" required autofocus>
<button>Go on</button>
</form>`,
  );
}

/** Who is signed in at this address. */
export function signedInPage(account: string): string {
  return page(
    'Signed in',
    `<h1>Signed in</h1>
<p>You are signed in as <code>${escapeHtml(account)}</code> at this address.</p>
<form method="post" action="/.homeport/sign-out"><button>Sign out</button></form>`,
  );
}

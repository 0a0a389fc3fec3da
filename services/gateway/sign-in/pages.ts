import { renderPage } from '../pages/html.ts';
import { escapeHtml } from '../../kit/escape-html.ts';

const nameAttributes = 'autocapitalize="none" spellcheck="false" required autofocus';

interface SignInPageOptions {
  readonly name?: string;
  /** Error of the last attempt. */
  readonly error?: string;
  /** Title of the service after the sign-in. */
  readonly serviceTitle?: string | undefined;
  readonly provider?: string | undefined;
}

/** Renders the sign-in page. */
export function renderSignInPage(
  to: string,
  { name = '', error = '', serviceTitle, provider }: SignInPageOptions = {},
): string {
  const alert = error === '' ? '' : `<p role="alert">${escapeHtml(error)}</p>`;
  const target =
    serviceTitle === undefined
      ? 'what is shared on this network'
      : `<strong>${escapeHtml(serviceTitle)}</strong>, and what else is shared on this network`;
  return renderPage(
    'Sign in',
    `<h1>Sign in</h1>
<p>Your Homeport account opens ${target}.</p>
${alert}
<form method="post" action="/.homeport/sign-in">
<input type="hidden" name="to" value="${escapeHtml(to)}">
<label for="name">Name</label>
<input id="name" name="name" value="${escapeHtml(name)}" autocomplete="username" ${nameAttributes}>
<label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required>
<button>Sign in</button>
</form>${provider === undefined ? '' : renderProviderButton(to, provider)}`,
  );
}

function renderProviderButton(to: string, provider: string): string {
  const address = escapeHtml(`/.homeport/oidc?to=${encodeURIComponent(to)}`);
  return `
<p class="or">or</p>
<a class="button quiet" href="${address}">Sign in with ${escapeHtml(provider)}</a>`;
}

interface CodePageOptions {
  readonly to: string;
  readonly ticket: string;
  /** Error of the last attempt. */
  readonly error?: string;
  /** WebAuthn options when the account has a passkey for this host. */
  readonly passkey?: Readonly<Record<string, unknown>> | undefined;
}

/** Renders the second-factor page. */
export function renderCodePage({ to, ticket, error = '', passkey }: CodePageOptions): string {
  const alert = error === '' ? '' : `<p role="alert">${escapeHtml(error)}</p>`;
  const hiddenFields = `<input type="hidden" name="to" value="${escapeHtml(to)}">
<input type="hidden" name="ticket" value="${escapeHtml(ticket)}">`;
  return renderPage(
    'Your code',
    `<h1>Your code</h1>
<p>Enter the code that your authenticator app shows, or one of your recovery codes.</p>
${alert}
<form method="post" action="/.homeport/sign-in">
${hiddenFields}
<label for="code">Code</label>
<input id="code" name="code" autocomplete="one-time-code" autocapitalize="none" spellcheck="false" required autofocus>
<button>Continue</button>
</form>${passkey === undefined ? '' : renderPasskeyForm(hiddenFields, passkey)}`,
  );
}

/** Renders the passkey form, which is hidden until the script detects passkey support. */
function renderPasskeyForm(hiddenFields: string, options: Readonly<Record<string, unknown>>): string {
  return `
<form id="passkey" method="post" action="/.homeport/sign-in" data-options="${escapeHtml(JSON.stringify(options))}" hidden>
${hiddenFields}
<input type="hidden" name="passkey">
<p class="or">or</p>
<p role="alert" hidden>The passkey was not confirmed. Try again, or enter a code.</p>
<button class="quiet">Use a passkey</button>
</form>
<script src="/.homeport/passkey.js"></script>`;
}

/** Script of the gateway's pages, which requests a passkey and submits it as a form. */
export const passkeyScript = `'use strict';
const form = document.getElementById('passkey');
const refusal = form.querySelector('[role=alert]');
const read = window.PublicKeyCredential && PublicKeyCredential.parseRequestOptionsFromJSON;
if (read && PublicKeyCredential.prototype.toJSON) {
  form.hidden = false;
  form.addEventListener('submit', async (event) => {
    event.preventDefault();
    refusal.hidden = true;
    try {
      const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(JSON.parse(form.dataset.options));
      form.elements.passkey.value = JSON.stringify(await navigator.credentials.get({ publicKey }));
      form.submit();
    } catch {
      refusal.hidden = false;
    }
  });
}
`;

/**
 * Renders an intermediate page that opens the requested page, so that the `form-action` policy of the sign-in form does
 * not apply to redirects of the requested page.
 */
export function renderContinuePage(to: string): string {
  const address = escapeHtml(to);
  return renderPage(
    'Signed in',
    `<h1>Signed in</h1>
<p>The page opens now. If it does not, <a href="${address}">open it</a>.</p>`,
    `<meta http-equiv="refresh" content="0;url=${address}">`,
  );
}

/** Renders the signed-in account. */
export function renderSignedInPage(account: string): string {
  return renderPage(
    'Signed in',
    `<h1>Signed in</h1>
<p>You are signed in as <code>${escapeHtml(account)}</code> at this address.</p>
<form method="post" action="/.homeport/sign-out"><button>Sign out</button></form>`,
  );
}

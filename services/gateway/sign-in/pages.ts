import * as m from '#messages/gateway-texts';
import { renderPage } from '../pages/html.ts';
import { escapeHtml } from '../../kit/escape-html.ts';
import { renderRichHtml, toCode, toStrong } from '../../kit/rich-html.ts';

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
  const introduction =
    serviceTitle === undefined
      ? escapeHtml(m.signInIntroduction())
      : renderRichHtml(m.signInIntroductionForService({ title: serviceTitle }), { service: toStrong });
  return renderPage(
    m.signIn(),
    `<h1>${escapeHtml(m.signIn())}</h1>
<p>${introduction}</p>
${alert}
<form method="post" action="/.homeport/sign-in">
<input type="hidden" name="to" value="${escapeHtml(to)}">
<label for="name">${escapeHtml(m.name())}</label>
<input id="name" name="name" value="${escapeHtml(name)}" autocomplete="username" ${nameAttributes}>
<label for="password">${escapeHtml(m.password())}</label>
<input id="password" name="password" type="password" autocomplete="current-password" required>
<button>${escapeHtml(m.signIn())}</button>
</form>${provider === undefined ? '' : renderProviderButton(to, provider)}
<p class="help">${escapeHtml(m.signInHelp())}</p>`,
  );
}

function renderProviderButton(to: string, provider: string): string {
  const address = escapeHtml(`/.homeport/oidc?to=${encodeURIComponent(to)}`);
  return `
<p class="or">${escapeHtml(m.or())}</p>
<a class="button quiet" href="${address}">${escapeHtml(m.signInWithProvider({ provider }))}</a>`;
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
    m.codeTitle(),
    `<h1>${escapeHtml(m.codeTitle())}</h1>
<p>${escapeHtml(m.codeIntroduction())}</p>
${alert}
<form method="post" action="/.homeport/sign-in">
${hiddenFields}
<label for="code">${escapeHtml(m.code())}</label>
<input id="code" name="code" autocomplete="one-time-code" autocapitalize="none" spellcheck="false" required autofocus>
<button>${escapeHtml(m.submitCode())}</button>
</form>${passkey === undefined ? '' : renderPasskeyForm(hiddenFields, passkey)}`,
  );
}

/** Renders the passkey form, which is hidden until the script detects passkey support. */
function renderPasskeyForm(hiddenFields: string, options: Readonly<Record<string, unknown>>): string {
  return `
<form id="passkey" method="post" action="/.homeport/sign-in" data-options="${escapeHtml(JSON.stringify(options))}" hidden>
${hiddenFields}
<input type="hidden" name="passkey">
<p class="or">${escapeHtml(m.or())}</p>
<p role="alert" hidden>${escapeHtml(m.passkeyNotConfirmed())}</p>
<button class="quiet">${escapeHtml(m.usePasskey())}</button>
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
    m.signedIn(),
    `<h1>${escapeHtml(m.signedIn())}</h1>
<p>${renderRichHtml(m.pageOpens(), { link: (text) => `<a href="${address}">${text}</a>` })}</p>`,
    { head: `<meta http-equiv="refresh" content="0;url=${address}">` },
  );
}

/** Renders the signed-in account. */
export function renderSignedInPage(account: string): string {
  return renderPage(
    m.signedIn(),
    `<h1>${escapeHtml(m.signedIn())}</h1>
<p>${renderRichHtml(m.signedInAs({ name: account }), { account: toCode })}</p>
<form method="post" action="/.homeport/sign-out"><button>${escapeHtml(m.signOut())}</button></form>`,
  );
}

import * as m from '#messages/gateway-texts';
import type { OneTimeLinkPurpose } from '../../contracts/control/one-time-links.ts';
import { escapeHtml } from '../../kit/escape-html.ts';
import { renderRichHtml, toCode } from '../../kit/rich-html.ts';
import { renderPage } from '../pages/html.ts';

/** Path of the page for one-time links, on each host and port. */
export const oneTimeLinkPath = '/.homeport/link';

/** Renders the page that a link opens. Its script posts the token, which browsers do not send with the address. */
export function renderLinkOpeningPage(): string {
  return renderPage(
    m.linkTitle(),
    `<h1>${escapeHtml(m.linkTitle())}</h1>
<p>${escapeHtml(m.linkOpening())}</p>
<p id="incomplete" role="alert" hidden>${escapeHtml(m.linkIncomplete())}</p>
<form id="link" method="post" action="${oneTimeLinkPath}">
<input type="hidden" name="token">
<button>${escapeHtml(m.submitCode())}</button>
</form>
<script src="${oneTimeLinkPath}.js"></script>`,
  );
}

/** Script of the opening page. It removes the token from the address bar and the history. */
export const oneTimeLinkScript = `'use strict';
const form = document.getElementById('link');
const token = location.hash.slice(1);
history.replaceState(null, '', location.pathname);
if (token === '') {
  form.hidden = true;
  document.getElementById('incomplete').hidden = false;
} else {
  form.elements.token.value = token;
  form.submit();
}
`;

interface LinkFormOptions {
  readonly token: string;
  readonly purpose: OneTimeLinkPurpose;
  /** Name that was entered before. */
  readonly name?: string | undefined;
  /** Error of the last attempt. */
  readonly error?: string;
}

/** Renders the form that creates the account of an invitation, or sets a new password. */
export function renderLinkForm({ token, purpose, name = purpose.account, error = '' }: LinkFormOptions): string {
  const isInvitation = purpose.kind === 'invitation';
  const title = isInvitation ? m.invitationTitle() : m.resetTitle();
  const introduction = isInvitation
    ? escapeHtml(m.invitationIntroduction())
    : renderRichHtml(m.resetIntroduction({ name: purpose.account }), { account: toCode });
  const alert = error === '' ? '' : `<p role="alert">${escapeHtml(error)}</p>`;
  // Password managers store the name with the new password.
  const nameField = isInvitation
    ? `<label for="name">${escapeHtml(m.name())}</label>
<input id="name" name="name" value="${escapeHtml(name)}" autocomplete="username" autocapitalize="none"
 spellcheck="false" maxlength="64" required autofocus aria-describedby="name-rule">
<p id="name-rule" class="rule">${escapeHtml(m.nameRule())}</p>`
    : `<input type="text" name="name" value="${escapeHtml(purpose.account)}" autocomplete="username" hidden>`;
  return renderPage(
    title,
    `<h1>${escapeHtml(title)}</h1>
<p>${introduction}</p>
${alert}
<form method="post" action="${oneTimeLinkPath}">
<input type="hidden" name="token" value="${escapeHtml(token)}">
${nameField}
<label for="password">${escapeHtml(isInvitation ? m.password() : m.newPassword())}</label>
<input id="password" name="password" type="password" autocomplete="new-password" minlength="10" maxlength="1024"
 required${isInvitation ? '' : ' autofocus'} aria-describedby="password-rule">
<p id="password-rule" class="rule">${escapeHtml(m.passwordRule())}</p>
<button>${escapeHtml(isInvitation ? m.createAccount() : m.savePassword())}</button>
</form>`,
  );
}

/** Renders the page for a link that does not work. */
export function renderInvalidLinkPage(detail: string): string {
  return renderPage(
    m.linkInvalidTitle(),
    `<h1>${escapeHtml(m.linkInvalidTitle())}</h1>
<p role="alert">${escapeHtml(detail)}</p>`,
  );
}

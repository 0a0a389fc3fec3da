import * as m from '#messages/uptime-texts';
import { escapeHtml } from '../../../kit/escape-html.ts';
import { renderDocument } from './document.ts';

/** Renders the form that asks for the password of a status page. */
export function renderPasswordForm({
  action,
  error,
}: {
  readonly action: string;
  readonly error?: string | undefined;
}): string {
  const message = error === undefined ? '' : `<p class="wrong" role="alert">${escapeHtml(error)}</p>`;
  const described = error === undefined ? '' : ' aria-invalid="true"';
  const form =
    `<form method="post" action="${escapeHtml(action)}"><label for="password">${escapeHtml(m.lockedPassword())}</label>` +
    '<span class="ask"><input id="password" name="password" type="password" required maxlength="200" ' +
    `autocomplete="current-password" autofocus${described}><button>${escapeHtml(m.lockedButton())}</button></span></form>`;
  const body =
    `<main><h1>${escapeHtml(m.lockedTitle())}</h1><section><p>${escapeHtml(m.lockedText())}</p>${message}${form}` +
    '</section></main>';
  return renderDocument(m.lockedTitle(), '<meta name="robots" content="noindex">', '.wrong{color:var(--down)}', body);
}

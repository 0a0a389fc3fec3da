import * as m from '#messages/uptime-texts';
import type { PublicNote } from '../../../contracts/uptime/status-pages.ts';
import { escapeHtml } from '../../../kit/escape-html.ts';
import type { StoredPage } from '../../store/status-pages.ts';
import { buildAccentStyle } from './accent-style.ts';
import { renderDocument } from './document.ts';
import { renderNoteList } from './notes.ts';

/** Renders the page with all notes of a status page; `next` is the ID of the note before which the next part begins. */
export function renderHistory({
  page,
  notes,
  next,
}: {
  readonly page: StoredPage;
  readonly notes: readonly PublicNote[];
  readonly next: number | null;
}): string {
  const { slug, title, theme, accentColor } = page.config;
  const address = `/status/${slug}`;
  const list = notes.length === 0 ? `<p>${escapeHtml(m.noNotes())}</p>` : renderNoteList(notes);
  const more =
    next === null ? '' : `<p><a href="${address}/history?before=${String(next)}">${escapeHtml(m.olderNotes())}</a></p>`;
  const body =
    `<main><header><h1>${escapeHtml(m.historyTitle({ title }))}</h1></header><section class="past">${list}${more}</section>` +
    `<p><a href="${address}">${escapeHtml(m.backToPage())}</a></p></main>`;
  const accent = accentColor === null ? '' : buildAccentStyle(accentColor);
  return renderDocument(m.historyTitle({ title }), '', accent, body, { theme });
}

import * as m from '#messages/uptime-texts';
import { formatList } from '../../../../messages/format.ts';
import type { Maintenance } from '../../../contracts/uptime/maintenance.ts';
import type { PublicNote } from '../../../contracts/uptime/status-pages.ts';
import { escapeHtml } from '../../../kit/escape-html.ts';
import type { PublicPage } from '../public-page.ts';
import { markdown } from './markdown.ts';
import { formatKumaTimestamp, formatTimestamp, renderTime } from './timestamps.ts';

/** Renders the current notes of a page. */
export function renderNotes(notes: PublicPage['incidents']): string {
  return notes
    .map(
      (note) =>
        `<section class="note ${note.style}"><h2>${escapeHtml(note.title)}</h2>${markdown(note.content)}<p ` +
        `class="soft">${renderTime(m.since(), formatKumaTimestamp(note.createdDate))}</p></section>`,
    )
    .join('');
}

/** Renders resolved notes with a link to all of them. */
export function renderPastNotes(notes: readonly PublicNote[], slug: string): string {
  if (notes.length === 0) return '';
  const link = `<p><a href="/status/${slug}/history">${escapeHtml(m.allNotes())}</a></p>`;
  return `<section class="past"><h2>${escapeHtml(m.pastNotesTitle())}</h2>${renderNoteList(notes)}${link}</section>`;
}

/** Renders a list of resolved notes. */
export function renderNoteList(notes: readonly PublicNote[]): string {
  const items = notes.map(
    ({ title, content, createdDate }) =>
      `<li><span class="name">${escapeHtml(title)}</span><span class="soft">${formatKumaTimestamp(createdDate)}</span>` +
      `<div class="text">${markdown(content)}</div></li>`,
  );
  return `<ul>${items.join('')}</ul>`;
}

/** Renders a maintenance window with its next or current time. */
export function renderMaintenance({ title, description, status, upcoming: [slot] }: Maintenance): string {
  const end = slot?.endDate ?? null;
  const isNow = status === 'under-maintenance';
  const timeText =
    slot === undefined ? '' : formatSlot(Date.parse(slot.startDate), end === null ? NaN : Date.parse(end), isNow);
  const heading = isNow ? m.maintenanceTitle({ title }) : m.plannedMaintenanceTitle({ title });
  return (
    `<section class="note window"><h2>${escapeHtml(heading)}</h2>${markdown(description)}<p ` +
    `class="soft">${timeText}</p></section>`
  );
}

/** Formats the start and end of a maintenance window, or only the start when the end is unknown. */
function formatSlot(start: number, end: number, isNow: boolean): string {
  return Number.isNaN(end)
    ? renderTime(isNow ? m.since() : m.from(), formatTimestamp(start))
    : `${formatTimestamp(start)} – ${formatTimestamp(end)}`;
}

/** Renders the outages of the monitors on a page. */
export function renderOutages({ outages, publicGroupList }: PublicPage): string {
  if (outages.length === 0) return '';
  const names = new Map(publicGroupList.flatMap(({ monitorList }) => monitorList.map(({ id, name }) => [id, name])));
  const items = outages.map(({ monitorIds, startedAt, acknowledgedAt, resolvedAt }) => {
    const title = escapeHtml(
      formatList(
        monitorIds.flatMap((id) => names.get(id) ?? []),
        'unit',
      ),
    );
    const steps = [
      renderTime(m.downSince(), formatKumaTimestamp(startedAt)),
      ...(acknowledgedAt === null ? [] : [renderTime(m.acknowledgedSince(), formatKumaTimestamp(acknowledgedAt))]),
      ...(resolvedAt === null ? [] : [renderTime(m.resolvedSince(), formatKumaTimestamp(resolvedAt))]),
    ];
    const statusLabel =
      resolvedAt === null
        ? `<span class="word w0">${escapeHtml(m.downNow())}</span>`
        : `<span class="word w1">${escapeHtml(m.resolved())}</span>`;
    return `<li><span class="name">${title}</span>${statusLabel}<span class="soft steps">${steps.join('<br>')}</span></li>`;
  });
  return `<section><h2>${escapeHtml(m.outagesTitle())}</h2><ul>${items.join('')}</ul></section>`;
}

import type { PageStatus } from '../../contracts/uptime/page-status.ts';
import type { PublicNote } from '../../contracts/uptime/status-pages.ts';
import { formatKumaTime } from '../domain/time-format.ts';
import type { StoredPage } from '../store/status-pages.ts';
import type { RuntimeMonitor } from '../monitoring/monitor-state.ts';
import { escapeXml, removeInvalidXmlCharacters } from '../../kit/escape-xml.ts';

const statusLabels: Readonly<Record<PageStatus, string>> = {
  maintenance: 'Under maintenance',
  up: 'All Systems Operational',
  partial: 'Partially Degraded Service',
  down: 'Degraded Service',
  none: 'No Services',
};

export interface Feed {
  readonly page: StoredPage;
  readonly link: string;
  readonly notes: readonly PublicNote[];
  readonly down: readonly RuntimeMonitor[];
  readonly status: PageStatus;
  readonly now: number;
}

/** Builds the RSS 2.0 feed of a page: its notes, and the monitors that are down. */
export function buildFeed({ page, link, notes, down, status, now }: Feed): string {
  const { config } = page;
  const items = [
    ...notes.map((note) => ({
      title: note.title,
      text: note.content,
      id: `i${String(note.id)}-${note.createdDate}`,
      at: Date.parse(`${note.createdDate.replace(' ', 'T')}Z`),
    })),
    ...down.map(({ id, config: { name }, checkState }) => {
      // A pause or maintenance during an outage keeps the item, so that readers do not show it again.
      const timestamp = checkState.downSince ?? checkState.since ?? now;
      return {
        title: `${name} is down`,
        text: `${name} has been down since ${formatKumaTime(timestamp).slice(0, 19)} UTC`,
        id: `m${String(id)}-${formatKumaTime(timestamp)}`,
        at: timestamp,
      };
    }),
  ];
  const title = config.rssTitle || `${config.title} RSS Feed`;
  return `<?xml version="1.0" encoding="utf-8"?>
<rss version="2.0">
    <channel>
        <title>${escapeXml(title)}</title>
        <link>${escapeXml(link)}</link>
        <description>Current status: ${statusLabels[status]}</description>
        <lastBuildDate>${new Date(now).toUTCString()}</lastBuildDate>
        <docs>https://validator.w3.org/feed/docs/rss2.html</docs>
        <generator>Homeport</generator>
        <language>en</language>${items.map((item) => renderItem(item, link)).join('')}
    </channel>
</rss>`;
}

function renderItem(item: { title: string; text: string; id: string; at: number }, link: string): string {
  return `
        <item>
            <title>${toCdata(item.title)}</title>
            <link>${escapeXml(link)}</link>
            <guid isPermaLink="false">${escapeXml(item.id)}</guid>
            <pubDate>${new Date(item.at).toUTCString()}</pubDate>
            <description>${toCdata(item.text)}</description>
        </item>`;
}

function toCdata(text: string): string {
  return `<![CDATA[${removeInvalidXmlCharacters(text).replaceAll(']]>', ']]]]><![CDATA[>')}]]>`;
}

import * as m from '#messages/inbox';
import { inboxApi, type InboxItem } from '../../../../services/contracts/inbox/api.ts';
import { call } from '../../api/call.ts';
import { firstLine } from '../../parts/text/first-line.ts';
import { stripInvisible } from '../../parts/text/plain-text.ts';
import type { PaletteSearch } from '../../state/palette-search.ts';

const maxResults = 6;
/** Number of rows to load when repeats leave too few different ones. */
const maxRowsWithRepeats = 24;

/** Searches messages by their text, newest first. */
const searchInbox: PaletteSearch = async (words, signal) => {
  const load = async (limit: number): Promise<readonly InboxItem[]> =>
    (await call(inboxApi.find, { query: { q: words, limit }, signal })).items;
  const newest = await load(maxResults);
  const distinct = withoutRepeats(newest);
  const isFilledByRepeats = newest.length === maxResults && distinct.length < maxResults;
  const items = isFilledByRepeats ? withoutRepeats(await load(maxRowsWithRepeats)).slice(0, maxResults) : distinct;
  const results = items.map((item) => ({
    id: `message-${String(item.id)}`,
    title: stripInvisible(item.title) || firstLine(item),
    note: stripInvisible(item.title) === '' ? '' : firstLine(item).slice(0, 80),
    icon: 'inbox' as const,
    to: `/inbox/messages/${String(item.id)}`,
  }));
  return [{ title: m.inTheInbox(), results: results, many: true }];
};

/** Keeps only the newest of equal messages. */
function withoutRepeats(items: readonly InboxItem[]): readonly InboxItem[] {
  const groups = Map.groupBy(items, ({ title, body }) => `${title}\n${body}`);
  return [...groups.values()].flatMap(([newest]) => newest ?? []);
}

export default (): PaletteSearch => searchInbox;

import { inboxApi, type InboxItem } from '../../../../services/contracts/inbox/api.ts';
import { call } from '../../api/call.ts';
import { firstLine } from '../../parts/text/first-line.ts';
import { stripInvisible } from '../../parts/text/plain-text.ts';
import type { PaletteSearch } from '../../state/palette-search.ts';

const shown = 6;
/** Enough to find that many different ones among what repeats. */
const atMostRead = 24;

/** Messages by their words, the newest first. */
const find: PaletteSearch = async (words, signal) => {
  const read = async (limit: number): Promise<readonly InboxItem[]> =>
    (await call(inboxApi.find, { query: { q: words, limit }, signal })).items;
  const newest = await read(shown);
  const few = withoutRepeats(newest);
  const isFilledByRepeats = newest.length === shown && few.length < shown;
  const items = isFilledByRepeats ? withoutRepeats(await read(atMostRead)).slice(0, shown) : few;
  const found = items.map((item) => ({
    id: `message-${String(item.id)}`,
    title: stripInvisible(item.title) || firstLine(item),
    note: stripInvisible(item.title) === '' ? '' : firstLine(item).slice(0, 80),
    icon: 'inbox' as const,
    to: `/inbox/messages/${String(item.id)}`,
  }));
  return [{ title: 'In the inbox', results: found, many: true }];
};

/** The newest of those that say the same stands for them. */
function withoutRepeats(items: readonly InboxItem[]): readonly InboxItem[] {
  const groups = Map.groupBy(items, ({ title, body }) => `${title}\n${body}`);
  return [...groups.values()].flatMap(([newest]) => newest ?? []);
}

export default (): PaletteSearch => find;

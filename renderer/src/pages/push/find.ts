import { pushApi } from '../../../../services/contracts/push/api.ts';
import { call } from '../../api/call.ts';
import { containsWords, memoize, type CreatePaletteSearch } from '../../state/palette-search.ts';

const shown = 6;

/** Topics by their names. */
const begin: CreatePaletteSearch = () => {
  const all = memoize(() => call(pushApi.topics));
  return async (words) => {
    const { topics } = await all();
    const found = topics
      .filter(({ name }) => containsWords(name, words))
      .slice(0, shown)
      .map(({ name }) => ({
        id: `topic-${name}`,
        title: name,
        icon: 'push' as const,
        to: `/push/topics/${encodeURIComponent(name)}`,
      }));
    return [{ title: 'Topics', results: found }];
  };
};

export default begin;

import * as m from '#messages/push';
import { pushApi } from '../../../../services/contracts/push/api.ts';
import { call } from '../../api/call.ts';
import { memoize, type CreatePaletteSearch } from '../../state/palette-search.ts';
import { topicPreferences } from '../../state/push/topic-preferences.svelte.ts';
import { containsTerms } from '../../state/search-text.ts';

const maxResults = 6;

/** Searches topics by name. */
const createSearch: CreatePaletteSearch = () => {
  const loadTopics = memoize(() => call(pushApi.topics));
  return async (words) => {
    const { topics } = await loadTopics();
    const results = topics
      .filter(({ name }) => containsTerms(`${topicPreferences.getName(name)} ${name}`, words))
      .slice(0, maxResults)
      .map(({ name }) => ({
        id: `topic-${name}`,
        title: topicPreferences.getName(name),
        icon: 'push' as const,
        to: `/push/topics/${encodeURIComponent(name)}`,
      }));
    return [{ title: m.topics(), results: results }];
  };
};

export default createSearch;

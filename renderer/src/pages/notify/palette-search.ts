import * as m from '#messages/notify';
import { notifyApi } from '../../../../services/contracts/notify/api.ts';
import { call } from '../../api/call.ts';
import { memoize, type CreatePaletteSearch } from '../../state/palette-search.ts';
import { containsTerms } from '../../state/search-text.ts';

const maxResults = 6;

/** Searches destinations by kind, address and tags. */
const createSearch: CreatePaletteSearch = () => {
  const loadDestinations = memoize(async () => {
    const { keys } = await call(notifyApi.keys);
    return keys.flatMap(({ key, destinations: loadDestinations }) =>
      loadDestinations.map((destination) => ({ key, ...destination })),
    );
  });
  return async (words) => {
    const results = (await loadDestinations())
      .filter(({ key, service, url, tags }) => containsTerms([key, service, url, ...tags].join(' '), words))
      .slice(0, maxResults)
      .map(({ key, id, line, service, url }) => ({
        id: `destination-${key}-${String(line)}-${id}`,
        title: service,
        note: url,
        icon: 'notify' as const,
        to: `/delivery/keys/${encodeURIComponent(key)}`,
      }));
    return [{ title: m.destinations(), results: results }];
  };
};

export default createSearch;

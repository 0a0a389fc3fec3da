import { notifyApi } from '../../../../services/contracts/notify/api.ts';
import { call } from '../../api/call.ts';
import { containsWords, memoize, type CreatePaletteSearch } from '../../state/palette-search.ts';

const shown = 6;

/** Destinations by their kind, address and tags. */
const begin: CreatePaletteSearch = () => {
  const destinations = memoize(async () => {
    const { keys } = await call(notifyApi.keys);
    return keys.flatMap(({ key, destinations }) => destinations.map((destination) => ({ key, ...destination })));
  });
  return async (words) => {
    const found = (await destinations())
      .filter(({ key, service, url, tags }) => containsWords([key, service, url, ...tags].join(' '), words))
      .slice(0, shown)
      .map(({ key, id, line, service, url }) => ({
        id: `destination-${key}-${String(line)}-${id}`,
        title: service,
        note: url,
        icon: 'notify' as const,
        to: `/delivery/keys/${encodeURIComponent(key)}`,
      }));
    return [{ title: 'Destinations', results: found }];
  };
};

export default begin;

import { notifyApi } from '../../../../services/contracts/notify/api.ts';
import { call } from '../../api/call.ts';
import { holds, once, type BeginFind } from '../../state/palette-search.ts';

const shown = 6;

/** Destinations by their kind, address and tags. */
const begin: BeginFind = () => {
  const destinations = once(async () => {
    const { keys } = await call(notifyApi.keys);
    return keys.flatMap(({ key, destinations }) => destinations.map((destination) => ({ key, ...destination })));
  });
  return async (words) => {
    const found = (await destinations())
      .filter(({ key, service, url, tags }) => holds([key, service, url, ...tags].join(' '), words))
      .slice(0, shown)
      .map(({ key, id, line, service, url }) => ({
        ...{ id: `destination-${key}-${String(line)}-${id}`, title: service, note: url, icon: 'notify' as const },
        to: `/delivery/keys/${encodeURIComponent(key)}`,
      }));
    return [{ title: 'Destinations', found }];
  };
};

export default begin;

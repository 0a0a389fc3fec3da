import { notifyApi } from '../../../../services/contracts/notify/api.ts';
import { call } from '../../api/call.ts';
import { holds, type Find } from '../../state/find.ts';

const shown = 6;

/** Destinations by their kind, address and tags. */
const find: Find = async (words, signal) => {
  const { keys } = await call(notifyApi.keys, { signal });
  const found = keys
    .flatMap(({ key, destinations }) => destinations.map((destination) => ({ key, ...destination })))
    .filter(({ key, service, url, tags }) => holds([key, service, url, ...tags].join(' '), words))
    .slice(0, shown)
    .map(({ key, id, line, service, url }) => ({
      ...{ id: `destination-${key}-${String(line)}-${id}`, title: service, note: url, icon: 'notify' as const },
      to: `/delivery/keys/${encodeURIComponent(key)}`,
    }));
  return [{ title: 'Destinations', found }];
};

export default find;

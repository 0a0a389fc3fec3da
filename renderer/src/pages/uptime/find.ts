import { uptimeApi } from '../../../../services/contracts/uptime/api.ts';
import { call } from '../../api/call.ts';
import { pathOf } from '../../state/page-path.ts';
import type { Find } from '../../state/palette-search.ts';

const shown = 6;

/** Monitors by their names. */
const find: Find = async (words, signal) => {
  const { items } = await call(uptimeApi.monitors, { query: { q: words, limit: shown }, signal });
  const found = items.map(({ id, name }) => ({
    ...{ id: `monitor-${String(id)}`, title: name, icon: 'uptime' as const },
    to: pathOf({ service: 'uptime', thing: 'monitors', id: String(id) }),
  }));
  return [{ title: 'Monitors', found }];
};

export default (): Find => find;

import * as m from '#messages/uptime';
import { uptimeApi } from '../../../../services/contracts/uptime/api.ts';
import { call } from '../../api/call.ts';
import { buildPath } from '../../state/page-path.ts';
import type { PaletteSearch } from '../../state/palette-search.ts';

const maxResults = 6;

/** Searches monitors by name. */
const searchMonitors: PaletteSearch = async (query, signal) => {
  const { items } = await call(uptimeApi.monitors, { query: { q: query, limit: maxResults }, signal });
  const results = items.map(({ id, name }) => ({
    id: `monitor-${String(id)}`,
    title: name,
    icon: 'uptime' as const,
    to: buildPath({ service: 'uptime', section: 'monitors', id: String(id) }),
  }));
  return [{ title: m.monitors(), results }];
};

export default (): PaletteSearch => searchMonitors;

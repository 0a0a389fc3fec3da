import { uptimeApi } from '../../../../services/contracts/uptime/api.ts';
import { call } from '../../api/call.ts';
import { buildPath } from '../../state/page-path.ts';
import type { PaletteSearch } from '../../state/palette-search.ts';

const shown = 6;

/** Monitors by their names. */
const find: PaletteSearch = async (words, signal) => {
  const { items } = await call(uptimeApi.monitors, { query: { q: words, limit: shown }, signal });
  const results = items.map(({ id, name }) => ({
    id: `monitor-${String(id)}`,
    title: name,
    icon: 'uptime' as const,
    to: buildPath({ service: 'uptime', section: 'monitors', id: String(id) }),
  }));
  return [{ title: 'Monitors', results }];
};

export default (): PaletteSearch => find;

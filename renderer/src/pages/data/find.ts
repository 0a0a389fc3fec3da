import { dataApi } from '../../../../services/contracts/data/api.ts';
import { call } from '../../api/call.ts';
import { buildPath } from '../../state/page-path.ts';
import { containsTerms, memoize, type CreatePaletteSearch } from '../../state/palette-search.ts';

const shown = 6;

/** Tables by their names, while PostgreSQL is awake: looking for something else is no reason to wake it. */
const begin: CreatePaletteSearch = () => {
  const names = memoize(async () => {
    const { state } = await call(dataApi.overview);
    if (state !== 'up') return [];
    const { tables } = await call(dataApi.tables);
    return tables.map(({ schema, name }) => `${schema}.${name}`);
  });
  return async (words) => {
    const results = (await names())
      .filter((name) => containsTerms(name, words))
      .slice(0, shown)
      .map((name) => ({
        id: `table-${name}`,
        title: name,
        icon: 'data' as const,
        to: buildPath({ service: 'data', section: 'tables', id: name }),
      }));
    return [{ title: 'Tables', results }];
  };
};

export default begin;

import * as m from '#messages/data';
import { dataApi } from '../../../../services/contracts/data/api.ts';
import { call } from '../../api/call.ts';
import { buildPath } from '../../state/page-path.ts';
import { memoize, type CreatePaletteSearch } from '../../state/palette-search.ts';
import { containsTerms } from '../../state/search-text.ts';

const maxResults = 6;

/** Finds tables by name while PostgreSQL is running: a search does not start it. */
const createSearch: CreatePaletteSearch = () => {
  const names = memoize(async () => {
    const { state } = await call(dataApi.overview);
    if (state !== 'up') return [];
    const { tables } = await call(dataApi.tables);
    return tables.map(({ schema, name }) => `${schema}.${name}`);
  });
  return async (query) => {
    const results = (await names())
      .filter((name) => containsTerms(name, query))
      .slice(0, maxResults)
      .map((name) => ({
        id: `table-${name}`,
        title: name,
        icon: 'data' as const,
        to: buildPath({ service: 'data', section: 'tables', id: name }),
      }));
    return [{ title: m.tables(), results }];
  };
};

export default createSearch;

import { dataApi } from '../../../../services/contracts/data/api.ts';
import { call } from '../../api/call.ts';
import { pathOf } from '../../state/page-path.ts';
import { holds, once, type BeginFind } from '../../state/palette-search.ts';

const shown = 6;

/** Tables by their names, while PostgreSQL is awake: looking for something else is no reason to wake it. */
const begin: BeginFind = () => {
  const names = once(async () => {
    const { state } = await call(dataApi.overview);
    if (state !== 'up') return [];
    const { tables } = await call(dataApi.tables);
    return tables.map(({ schema, name }) => `${schema}.${name}`);
  });
  return async (words) => {
    const found = (await names())
      .filter((name) => holds(name, words))
      .slice(0, shown)
      .map((name) => ({
        ...{ id: `table-${name}`, title: name, icon: 'data' as const },
        to: pathOf({ service: 'data', thing: 'tables', id: name }),
      }));
    return [{ title: 'Tables', found }];
  };
};

export default begin;

import { pushApi } from '../../../../services/contracts/push/api.ts';
import { call } from '../../api/call.ts';
import { holds, once, type BeginFind } from '../../state/palette-search.ts';

const shown = 6;

/** Topics by their names. */
const begin: BeginFind = () => {
  const all = once(() => call(pushApi.topics));
  return async (words) => {
    const { topics } = await all();
    const found = topics
      .filter(({ name }) => holds(name, words))
      .slice(0, shown)
      .map(({ name }) => ({
        ...{ id: `topic-${name}`, title: name, icon: 'push' as const, to: `/push/topics/${encodeURIComponent(name)}` },
      }));
    return [{ title: 'Topics', found }];
  };
};

export default begin;

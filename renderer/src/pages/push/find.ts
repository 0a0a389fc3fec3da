import { pushApi } from '../../../../services/contracts/push/api.ts';
import { call } from '../../api/call.ts';
import { holds, type Find } from '../../state/find.ts';

const shown = 6;

/** Topics by their names. */
const find: Find = async (words, signal) => {
  const { topics } = await call(pushApi.topics, { signal });
  const found = topics
    .filter(({ name }) => holds(name, words))
    .slice(0, shown)
    .map(({ name }) => ({
      ...{ id: `topic-${name}`, title: name, icon: 'push' as const, to: `/push/topics/${encodeURIComponent(name)}` },
    }));
  return [{ title: 'Topics', found }];
};

export default find;

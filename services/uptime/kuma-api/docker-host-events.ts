import { NewDockerHost } from '../../contracts/uptime/views.ts';
import {
  parseInput,
  toNumber,
  toRecord,
  toTranslatedMessage,
  type SocketEvents,
  type SocketDependencies,
} from './events.ts';

/** Returns the calls for container engines. */
export function dockerHostEvents({
  monitoring: { checker },
  stores: { dockerHosts },
}: SocketDependencies): SocketEvents {
  return {
    addDockerHost: {
      needs: 'write',
      async run(_session, input, id) {
        const host = parseInput(NewDockerHost, input);
        const { id: number } = await dockerHosts.put(host, id === null || id === undefined ? undefined : toNumber(id));
        return { msg: 'Saved.', msgi18n: true, id: number };
      },
    },
    deleteDockerHost: {
      needs: 'write',
      async run(_session, id) {
        await dockerHosts.remove(toNumber(id));
        return toTranslatedMessage('successDeleted');
      },
    },
    testDockerHost: {
      needs: 'write',
      async run(_session, input) {
        const { length } = await checker.listContainers({
          id: 0,
          ...parseInput(NewDockerHost, { name: '-', ...toRecord(input) }),
        });
        return { msg: `Connected Successfully. Amount of containers: ${String(length)}` };
      },
    },
  };
}

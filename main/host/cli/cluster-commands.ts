import * as m from '#messages/command-line';
import * as hostTexts from '#messages/hosts';
import { defineDateFormat } from '../../../messages/format.ts';
import type { HostEntry } from '../../../services/contracts/control/hosts.ts';
import type { Kernel } from '../kernel.ts';

const formatTime = defineDateFormat({ dateStyle: 'medium', timeStyle: 'medium' });

/** Prints the hosts that share the database to stdout. */
export async function printClusterStatus({ hosts: directory }: Pick<Kernel, 'hosts'>): Promise<void> {
  const { isShared, hosts } = await directory.list();
  if (!isShared) return print(m.clusterNotShared());
  if (hosts.length === 0) return print(m.clusterNoHosts());
  for (const { name, id, state, version, startedAt, seenAt, problems } of hosts) {
    print(
      m.clusterLine({
        name,
        id,
        state: stateTexts[state](),
        version,
        started: formatTime(startedAt),
        seen: formatTime(seenAt),
      }),
    );
    for (const problem of problems)
      print(`  ${hostTexts.problem({ service: problem.service, reason: problem.reason })}`);
  }
}

const stateTexts: Readonly<Record<HostEntry['state'], () => string>> = {
  running: m.clusterRunning,
  draining: m.clusterDraining,
  offline: m.clusterOffline,
};

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

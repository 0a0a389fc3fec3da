import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { startHostProcess, type HostProcess } from '../support/host-process.ts';
import type { Load, SendMails, Sink } from './load.ts';
import { inFreshFolder, residentMegabytes, treeMegabytes, untilIdle } from './measure.ts';
import { mail } from './mail-text.ts';
import { startApprise, startMailrise } from './notify-peers.ts';
import { addKey, notification } from './notify-requests.ts';
import type { Figure } from './run.ts';

const program = fileURLToPath(new URL('chosen-services.ts', import.meta.url));
const others = ['downloads', 'push', 'inbox', 'control'];
const settleMs = 8000;

interface Size {
  readonly resident: number;
  readonly proportional: number;
}

/** Measures the memory that the notify and mail services add to the host, in MB. */
export function benchMemory(
  options: {
    readonly load: Load;
    readonly send: SendMails;
    readonly openSink: () => Promise<Sink>;
    /** Number of notifications and mails. */
    readonly share: number;
  },
  appriseApi: string | undefined,
): Promise<readonly Figure[]> {
  const { load, send, openSink, share } = options;
  const [notifications, mails] = [10_000 * share, 3000 * share];
  return inFreshFolder(async (folder) => {
    const open = (name: string, services: readonly string[]): Promise<HostProcess> =>
      startHostProcess(join(folder, name), { program, environment: { BENCH_SERVICES: services.join(' ') } });
    await using sink = await openSink();
    await using withoutService = await open('without', others);
    await using host = await open('with', [...others, 'notify', 'mail']);
    await sleep(settleMs);
    const without = measureSize(withoutService);
    const idle = measureSize(host);
    const destination = `json://127.0.0.1:${sink.port}/`;
    await addKey(host.port('notify'), 'aggregator', [destination]);
    await load.publish(host.port('notify'), 8, notifications, notification('aggregator'));
    await send(host.port('mail'), 8, mails, 'alerts@nas.lan', mail('memory'));
    await untilIdle(host.child.pid ?? 0);
    await sleep(settleMs);
    const loaded = measureSize(host);
    await using apprise =
      appriseApi === undefined ? undefined : await startApprise(appriseApi, join(folder, 'apprise'));
    await using mailrise = await startMailrise(join(folder, 'mailrise'), destination);
    await sleep(settleMs);
    const peer = apprise === undefined ? undefined : { peer: treeMegabytes(apprise.pid) + treeMegabytes(mailrise.pid) };
    const toFigure = (label: string, measured: number): Figure => ({
      what: `notify and mail: ${label}`,
      measured,
      unit: 'MB',
    });
    return [
      {
        ...toFigure('added to the resident memory, idle', idle.resident - without.resident),
        goal: { at: 'most', value: 40 },
      },
      { ...toFigure('added, shared pages in proportion, idle', idle.proportional - without.proportional), ...peer },
      toFigure(
        `the same after ${notifications.toLocaleString('en')} notifications and ${mails.toLocaleString('en')} mails`,
        loaded.proportional - without.proportional,
      ),
      toFigure('the whole host, idle', idle.proportional),
    ];
  });
}

function measureSize({ child }: HostProcess): Size {
  const pid = child.pid ?? 0;
  return { resident: residentMegabytes(pid), proportional: treeMegabytes(pid) };
}

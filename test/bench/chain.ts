import { performance } from 'node:perf_hooks';
import { adminAuthorization } from '../support/host.ts';
import { startHostProcess } from '../support/host-process.ts';
import { SmtpDialogue } from '../support/smtp.ts';
import { cpuSeconds, inFreshFolder, percentile } from './measure.ts';
import type { BenchOptions } from './run.ts';

/**
 * Measures the time from the first byte of the DATA of a mail to the event on a subscriber's stream, one mail at a
 * time.
 */
export function benchChain({ quick, print }: BenchOptions): Promise<void> {
  const mails = quick ? 50 : 200;
  return inFreshFolder(async (folder) => {
    await using host = await startHostProcess(folder);
    const stream = await fetch(`${host.url('push')}/homeport/json`, { headers: { Authorization: adminAuthorization } });
    if (stream.body === null) throw new Error('the stream has no body');
    const lines = readLines(stream.body);
    await lines.next();
    using smtp = await SmtpDialogue.open(host.port('mail'));
    const pid = host.child.pid ?? 0;
    const times: number[] = [];
    let cpuAtStart = 0;
    for (let mail = -20; mail < mails; mail += 1) {
      if (mail === 0) cpuAtStart = cpuSeconds(pid);
      const started = performance.now();
      const reply = await smtp.send('alerts@homeport.local', `mail ${mail}`, 'text');
      if (!reply.startsWith('250')) throw new Error(reply);
      for (;;) {
        const { value } = await lines.next();
        if (String(value).includes(`mail ${mail} `)) break;
      }
      if (mail >= 0) times.push(performance.now() - started);
    }
    const cpu = ((cpuSeconds(pid) - cpuAtStart) / mails) * 1000;
    await stream.body.cancel().catch(() => undefined);
    print(
      {
        what: 'mail to subscriber, p50',
        measured: percentile(times, 0.5),
        unit: 'ms',
        goal: { at: 'most', value: 25 },
      },
      { what: 'mail to subscriber, p99', measured: percentile(times, 0.99), unit: 'ms' },
      { what: 'mail to subscriber (CPU a mail)', measured: cpu, unit: 'ms' },
    );
  });
}

async function* readLines(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of body) {
    const parts = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = parts.pop() ?? '';
    yield* parts;
  }
}

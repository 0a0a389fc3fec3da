import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { freePort } from '../../support/free-port.ts';
import { admin, adminAuthorization } from '../../support/host.ts';
import { startHostProcess } from '../../support/host-process.ts';
import { lacksProgram } from '../../support/requirements.ts';
import { describeNtfyCommand } from './ntfy-command.ts';

const clientPrograms = [
  ['Python', 'python3', 'clients/listen.py'],
  ['Node', process.execPath, 'clients/listen.mjs'],
] as const;

for (const [name, program, script] of clientPrograms) {
  it.skipIf(lacksProgram(program))(
    `receives each message once in a ${name} program across kill -9 and a restart`,
    async () => {
      const dataDir = mkdtempSync(join(tmpdir(), 'push-client-'));
      const port = await freePort();
      const environment = { HOMEPORT_PORT_PUSH: String(port) };
      const path = fileURLToPath(new URL(script, import.meta.url));
      const reader = spawn(program, [path, String(port), 'follow', admin.name, admin.password], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      let text = '';
      reader.stdout.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      const receivedLines = (): string[] => text.split('\n').slice(0, -1);
      const acknowledged: string[] = [];
      const publish = async (count: number): Promise<void> => {
        for (let index = 0; index < count; index += 1) {
          const body = `m${String(acknowledged.length)}`;
          const reply = await fetch(`http://127.0.0.1:${String(port)}/follow`, {
            method: 'POST',
            headers: { authorization: adminAuthorization },
            body,
          });
          if (reply.status === 200) acknowledged.push(body);
        }
      };
      try {
        {
          await using host = await startHostProcess(dataDir, { environment });
          await publish(50);
          await expect.poll(() => receivedLines().length, { timeout: 20_000 }).toBeGreaterThan(0);
          await publish(50);
          await host.kill();
        }
        await using host = await startHostProcess(dataDir, { environment });
        await publish(50);
        await expect.poll(receivedLines, { timeout: 20_000 }).toEqual(acknowledged);
        expect(host.port('push')).toBe(port);
      } finally {
        reader.kill();
        rmSync(dataDir, { recursive: true, force: true });
      }
    },
    90_000,
  );
}

// Not available in a package registry; its path is configured.
const ntfy = process.env['HOMEPORT_NTFY_BINARY'];
if (ntfy !== undefined) describeNtfyCommand(ntfy);

import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { control } from '../../services/control/index.ts';
import { fixtureService } from '../support/fixture-service.ts';
import { openTestHost } from '../support/host.ts';

const run = promisify(execFile);
const folder = fileURLToPath(new URL('../../deploy/', import.meta.url));
const read = (path: string): string => readFileSync(folder + path, 'utf8');
const documentation = readFileSync(new URL('../../docs/configuration.md', import.meta.url), 'utf8');

interface ComposeService {
  readonly image: string;
  readonly user?: string;
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly security_opt?: readonly string[];
  readonly mem_limit?: string;
  readonly stop_grace_period?: string;
  readonly secrets?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly volumes?: readonly string[];
}

interface Compose {
  readonly services: Readonly<Record<string, ComposeService>>;
  readonly secrets: Readonly<Record<string, { readonly file: string }>>;
  readonly volumes: Readonly<Record<string, null>>;
}

describe('compose example', () => {
  const compose = parse(read('compose/compose.yaml'), { merge: true }) as Compose;
  const hosts = Object.entries(compose.services).filter(([, { image }]) => image.startsWith('homeport'));

  it('runs several hosts without privileges and with limits', () => {
    expect(hosts.map(([name]) => name)).toEqual(['host1', 'host2']);
    for (const [, host] of hosts)
      expect(host).toMatchObject({
        user: expect.stringMatching(/^[1-9]\d*:[1-9]\d*$/),
        read_only: true,
        cap_drop: ['ALL'],
        security_opt: ['no-new-privileges:true'],
        mem_limit: expect.any(String),
        healthcheck: { test: ['CMD', 'node', '/app/health.mjs', 'ready'] },
      });
    const volumes = hosts.map(([, host]) => host.volumes?.[0]);
    expect(new Set(volumes).size, 'each host has its own data folder').toBe(hosts.length);
    for (const [name, { environment, volumes: mounts }] of hosts)
      expect(mounts, name).toContain(`repositories:${environment?.['GIT_REPOSITORIES_FOLDER'] ?? ''}`);
  });

  it('uses only documented variables, and secrets from files', () => {
    for (const [, { environment = {}, secrets = [] }] of hosts) {
      for (const [name, value] of Object.entries(environment)) {
        expect(documentation, name).toContain(`\`${name}\``);
        if (/KEY|PASSWORD|URL/.test(name) && !/ACCESS_KEY/.test(name)) expect(name).toMatch(/_FILE$/);
        const [, secret] = /^\/run\/secrets\/(.+)$/.exec(value) ?? [];
        if (secret !== undefined) expect(secrets).toContain(secret);
      }
      for (const secret of secrets) expect(compose.secrets).toHaveProperty(secret);
    }
  });

  it('gives hosts more time to stop than they need', () => {
    for (const [, { environment = {}, stop_grace_period: limit = '' }] of hosts) {
      const needed = Number(environment['HOMEPORT_DRAIN_TIME']) + Number(environment['HOMEPORT_STOP_TIMEOUT']);
      expect(parseInt(limit, 10)).toBeGreaterThan(needed);
    }
  });

  it('balances between hosts that are ready', () => {
    const balancer = read('compose/haproxy.cfg');
    expect(balancer).toContain('/.homeport/health/ready');
    for (const [name] of hosts) expect(balancer).toContain(`server ${name} ${name}:8443`);
  });
});

describe('container', () => {
  /** Instructions of the last stage, without continuation lines. */
  const instructions = (
    read('Containerfile')
      .replaceAll('\\\n', ' ')
      .split(/^FROM .*$/m)
      .at(-1) ?? ''
  )
    .split('\n')
    .filter((line) => /^[A-Z]+ /.test(line));
  const find = (name: string): string | undefined => instructions.find((line) => line.startsWith(`${name} `));

  it('runs as an unprivileged user with its data in a volume', () => {
    expect(find('USER')).toMatch(/^USER [1-9]\d*:[1-9]\d*$/);
    expect(find('VOLUME')).toBe('VOLUME /data');
    expect(find('ENV')).toContain('HOMEPORT_DATA_DIR=/data');
    expect(find('HEALTHCHECK')).toContain('CMD ["node", "/app/health.mjs", "live"]');
    expect(find('STOPSIGNAL')).toBe('STOPSIGNAL SIGTERM');
    expect(find('ENTRYPOINT')).toContain('"--headless"');
  });

  it('starts the host with the flags of npm start', () => {
    const { scripts } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as {
      scripts: { start: string };
    };
    for (const flag of scripts.start.match(/--[a-z-]+(=\d+)?/g) ?? [])
      expect(find('ENTRYPOINT')).toContain(`"${flag}"`);
  });

  it('copies no data or secrets into the image', () => {
    const ignored = read('Containerfile.dockerignore').split('\n');
    expect(ignored).toEqual(expect.arrayContaining(['.git', 'node_modules']));
    expect(instructions.filter((line) => /ENV|ARG/.test(line)).join()).not.toMatch(/PASSWORD|SECRET|KEY/);
  });
});

describe('health check of the container', () => {
  const check = (kind: string, port: string): Promise<number> =>
    run(process.execPath, [`${folder}health.mjs`, kind], { env: { HOMEPORT_PORT_CONTROL: port } }).then(
      () => 0,
      ({ code }: { code: number }) => code,
    );

  it('fails unless the host responds and is ready', async () => {
    const broken = fixtureService('broken', () => ({ start: () => Promise.reject(new Error('broken')) }));
    await using host = await openTestHost({ services: [control, broken] });
    const port = String(host.port('control'));
    expect([await check('live', port), await check('ready', port)]).toEqual([0, 1]);
    const server = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const { port: closed } = server.address() as { port: number };
    await new Promise((resolve) => server.close(resolve));
    expect(await check('live', String(closed))).toBe(1);
  });
});

import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { admin, adminAuthorization } from '../support/host.ts';
import { day, hour, type House, type Moment } from './moment.ts';

const run = promisify(execFile);

const files: Readonly<Record<string, string>> = {
  'README.md':
    '# Lamp\n\nTurns the lights of the house on when somebody comes home.\n\n## Begin\n\n```sh\nnpm install\nnpm start\n```\n\n| room | sensor | light |\n|---|---|---|\n| hall | door | warm |\n| kitchen | motion | white |\n| garden | dusk | off at 23:00 |\n\n- [x] doors\n- [ ] motion in the garden\n',
  'src/lamp.ts':
    "import { rooms } from './rooms.ts';\n\n/** Lights a room, and says so. */\nexport async function light(room: string, percent = 100): Promise<string> {\n  const found = rooms.get(room);\n  if (found === undefined) throw new Error(`There is no room ${room}.`);\n  await found.set(percent);\n  return `${room} is at ${percent} %`;\n}\n",
  'src/rooms.ts':
    "export const rooms = new Map([\n  ['hall', bulb('192.168.1.40')],\n  ['kitchen', bulb('192.168.1.41')],\n]);\n",
  'docs/wiring.md': '# Wiring\n\nBlue is neutral.\n',
  'package.json': '{\n  "name": "lamp",\n  "type": "module",\n  "scripts": { "start": "node src/lamp.ts" }\n}\n',
};

const changes: readonly (readonly [
  daysAgo: number,
  who: string,
  text: string,
  file: string,
  from: string,
  to: string,
])[] = [
  [
    19,
    'Ben',
    'Rooms: the garden has a lamp, too',
    'src/rooms.ts',
    "41')],\n",
    "41')],\n  ['garden', bulb('192.168.1.44')],\n",
  ],
  [
    12,
    'Ada',
    'Say which rooms there are when one is not known',
    'src/lamp.ts',
    'no room ${room}.`',
    'no room ${room}; there are ${[...rooms.keys()].join(", ")}.`',
  ],
  [
    5,
    'Ada',
    'Wiring: which cable is which\n\nAs asked in #3, after the hall was dark for an evening.',
    'docs/wiring.md',
    'Blue is neutral.\n',
    'Blue is neutral, brown is the phase.\n',
  ],
  [1, 'Ben', 'Lamp: dim by default, nobody likes it bright', 'src/lamp.ts', 'percent = 100', 'percent = 60'],
];

/** Public key in the format of ssh-keygen; its private key does not exist. */
function publicKey(name: string): string {
  const part = (bytes: Buffer): Buffer => Buffer.concat([Buffer.from([0, 0, 0, bytes.length]), bytes]);
  return `ssh-ed25519 ${Buffer.concat([part(Buffer.from('ssh-ed25519')), part(randomBytes(32))]).toString('base64')} ${name}`;
}

/** Repositories of two people: code, issues, a pull request that waits for a review, releases. */
export async function code({ host, folder }: House): Promise<readonly Moment[]> {
  const basic = (name: string, password: string): string =>
    `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;
  const ben = basic('ben', 'a long password of ben');
  const api = async (
    method: string,
    path: string,
    body?: unknown,
    authorization = adminAuthorization,
  ): Promise<any> => {
    const reply = await fetch(`${host.url('git')}/api/v1${path}`, {
      method,
      headers: { authorization, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await reply.text();
    if (!reply.ok) throw new Error(`${method} ${path}: ${String(reply.status)} ${text}`);
    return text === '' ? {} : JSON.parse(text);
  };
  const remote = `${host.url('git').replace('://', `://${admin.name}:${encodeURIComponent(admin.password)}@`)}/ada/lamp.git`;
  const cwd = join(folder, 'lamp');
  const git = async (args: readonly string[], author = 'Ada', ago = 0): Promise<void> => {
    const date = new Date(Date.now() - ago).toISOString();
    const mail = `${author.toLowerCase()}@home.example`;
    await run('git', ['-c', 'init.defaultBranch=main', ...args], {
      cwd,
      env: {
        ...{ PATH: process.env['PATH'] ?? '', HOME: folder, GIT_CONFIG_NOSYSTEM: '1', GIT_TERMINAL_PROMPT: '0' },
        ...{ GIT_AUTHOR_NAME: author, GIT_AUTHOR_EMAIL: mail, GIT_COMMITTER_NAME: author, GIT_COMMITTER_EMAIL: mail },
        ...{ GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date },
      },
    });
  };
  const texts: Record<string, string> = { ...files };
  const write = (path: string): void => {
    mkdirSync(dirname(join(cwd, path)), { recursive: true });
    writeFileSync(join(cwd, path), texts[path] ?? '');
  };
  const change = ([days, author, text, file, from, to]: (typeof changes)[number]): Moment => ({
    ago: days * day,
    async run() {
      texts[file] = (texts[file] ?? '').replace(from, to);
      write(file);
      await git(['commit', '-qam', text], author, days * day);
      await git(['push', '-q', remote, 'main']);
    },
  });
  const repositoryPath = '/repos/ada/lamp';
  return [
    {
      ago: 25 * day,
      async run() {
        await api('POST', '/user/repos', { name: 'lamp', description: 'Lights that know when somebody comes home' });
        await api('POST', '/user/repos', {
          name: 'recipes',
          private: true,
          description: 'What we cook',
          auto_init: true,
        });
        await api('POST', '/user/repos', { name: 'notes', private: true, auto_init: true }, ben);
        await api('PUT', `${repositoryPath}/collaborators/ben`, { permission: 'write' });
        for (const title of ['laptop', 'workshop'])
          await api('POST', '/user/keys', { title, key: publicKey(`ada@${title}`) });
        await api('POST', `${repositoryPath}/keys`, {
          title: 'build server',
          key: publicKey('builder'),
          read_only: true,
        });
        mkdirSync(cwd);
        for (const path of Object.keys(files)) write(path);
        await git(['init', '-q']);
        await git(['add', '.']);
        await git(
          ['commit', '-qm', 'Lights for the hall and the kitchen\n\nWith a table of what is where.'],
          'Ada',
          25 * day,
        );
        await git(['push', '-q', remote, 'main']);
        for (const [name, color] of [
          ['bug', '#d73a4a'],
          ['idea', '#0e8a16'],
          ['garden', '#5319e7'],
        ] as const)
          await api('POST', `${repositoryPath}/labels`, { name, color });
        await api('POST', `${repositoryPath}/milestones`, {
          title: 'Before winter',
          due_on: new Date(Date.now() + 20 * day).toISOString(),
        });
      },
    },
    ...changes.map(change),
    {
      ago: 15 * day,
      async run() {
        await git(['tag', 'v1.0']);
        await git(['push', '-q', remote, 'v1.0']);
        await api('POST', `${repositoryPath}/releases`, {
          ...{ tag_name: 'v1.0', name: 'First lights' },
          body: '- hall and kitchen\n- says what it does',
        });
        await api('POST', `${repositoryPath}/issues`, {
          title: 'The kitchen flickers at 10 %',
          body: 'Only with the **new** bulb.\n\n- [x] another socket\n- [ ] another bulb',
          labels: [1],
          assignees: ['ada'],
          milestone: 1,
        });
        await api(
          'POST',
          `${repositoryPath}/issues`,
          { title: 'Motion in the garden', body: 'A cat is no person.', labels: [2, 3] },
          ben,
        ).catch(() => undefined);
      },
    },
    {
      ago: 8 * day,
      async run() {
        await api('POST', `${repositoryPath}/issues`, {
          title: 'Say what is on when I leave',
          labels: [2],
          assignees: ['ben'],
        });
        await api('POST', `${repositoryPath}/issues/1/comments`, { body: 'It does it here as well, below 15 %.' }, ben);
        await api('POST', `${repositoryPath}/issues/1/reactions`, { content: '+1' }, ben);
        await api('POST', `${repositoryPath}/issues/1/reactions`, { content: 'eyes' });
        await api('POST', `${repositoryPath}/issues/1/comments`, {
          body: 'Then the driver is to blame. See `src/lamp.ts`, and #3.',
        });
        const closed = await api('POST', `${repositoryPath}/issues`, { title: 'Wrong address of the hall' });
        await api('PATCH', `${repositoryPath}/issues/${String(closed.number)}`, { state: 'closed' });
      },
    },
    {
      ago: 20 * hour,
      async run() {
        await git(['checkout', '-q', '-b', 'dim-at-night']);
        texts['src/lamp.ts'] = (texts['src/lamp.ts'] ?? '').replace(
          'await found.set(percent);',
          'const most = isNight() ? 20 : 100;\n  await found.set(Math.min(percent, most));',
        );
        write('src/lamp.ts');
        await git(['commit', '-qam', 'Dim at night'], 'Ben', 20 * hour);
        await git(['push', '-q', remote, 'dim-at-night']);
        await api(
          'POST',
          `${repositoryPath}/pulls`,
          {
            title: 'Dim at night',
            head: 'dim-at-night',
            base: 'main',
            body: 'After 22:00 no lamp is brighter than 20 %.\n\nCloses #1',
          },
          ben,
        );
        const { object } = await api('GET', `${repositoryPath}/git/refs/heads/dim-at-night`).then((references: any) =>
          Array.isArray(references) ? references[0] : references,
        );
        await api('POST', `${repositoryPath}/statuses/${String(object.sha)}`, {
          state: 'success',
          context: 'tests',
          description: '42 passed',
        });
        await git(['checkout', '-q', 'main']);
      },
    },
    {
      ago: 3 * hour,
      async run() {
        await api('POST', `${repositoryPath}/branch_protections`, {
          rule_name: 'main',
          enable_push: true,
          required_approvals: 1,
        });
        await api('POST', `${repositoryPath}/hooks`, {
          type: 'gitea',
          active: true,
          events: ['push', 'issues'],
          config: { url: 'http://127.0.0.1:8123/hook', content_type: 'json' },
        });
      },
    },
  ];
}

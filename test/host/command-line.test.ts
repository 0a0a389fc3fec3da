import { expect, test } from 'vitest';
import { getDataDir } from '../../main/host/platform/data-folder.ts';
import { helpText, parseCommandLine } from '../../main/host/cli/command-line.ts';
import { registry } from '../../main/host/services/registry.ts';

const start = {
  name: 'start',
  dataDir: undefined,
  headless: false,
  hidden: false,
  port: undefined,
  safeMode: false,
  link: undefined,
};

test.each([
  ['', start],
  [
    '--headless --data-dir /srv/homeport --port 7701',
    { ...start, headless: true, dataDir: '/srv/homeport', port: 7701 },
  ],
  ['--hidden --port=0 --safe-mode', { ...start, hidden: true, port: 0, safeMode: true }],
  ['--version', { name: 'version' }],
  ['-h', { name: 'help' }],
  ['backup --help', { name: 'help' }],
  ['config export', { name: 'config export', dataDir: undefined, secrets: false, file: undefined }],
  ['config export --secrets out.yaml', { name: 'config export', dataDir: undefined, secrets: true, file: 'out.yaml' }],
  ['import ntfy folder', { name: 'import', dataDir: undefined, program: 'ntfy', folder: 'folder' }],
  [
    'import apprise-api store --dry-run',
    { name: 'import', dataDir: undefined, program: 'apprise-api', folder: 'store', dryRun: true },
  ],
  ['import mailrise f.conf', { name: 'import', dataDir: undefined, program: 'mailrise', folder: 'f.conf' }],
  ['config import in.yaml --data-dir d', { name: 'config import', dataDir: 'd', file: 'in.yaml' }],
  ['config check', { name: 'config check', dataDir: undefined, file: undefined }],
  ['config check in.yaml', { name: 'config check', dataDir: undefined, file: 'in.yaml' }],
  ['backup b.tar', { name: 'backup', dataDir: undefined, file: 'b.tar' }],
  ['restore b.tar', { name: 'restore', dataDir: undefined, file: 'b.tar', force: false }],
  ['restore --force b.tar', { name: 'restore', dataDir: undefined, file: 'b.tar', force: true }],
  ['engines list', { name: 'engines list', dataDir: undefined }],
  ['engines install', { name: 'engines install', dataDir: undefined, engine: undefined }],
  ['engines remove yt-dlp', { name: 'engines remove', dataDir: undefined, engine: 'yt-dlp' }],
  ['engines install yt-dlp', { name: 'engines install', dataDir: undefined, engine: 'yt-dlp' }],
])('parses homeport %s', (line, command) => {
  expect(parseCommandLine(line.split(' ').filter(Boolean), registry)).toEqual(command);
});

test('passes a homeport:// link on as a URL', () => {
  const command = parseCommandLine(['--hidden', 'homeport://open/inbox?id=7']);
  expect(command).toMatchObject({ name: 'start', hidden: true });
  expect(command.name === 'start' && command.link?.href).toBe('homeport://open/inbox?id=7');
});

test.each([
  ['--shiny', /^Unknown option “--shiny”\. /],
  ['--port', /--port/],
  ['--port 7700x', /--port needs a number from 0 to 65535/],
  ['--port 65536', /--port needs a number/],
  ['--port=-1', /--port needs a number/],
  ['--headless=yes', /--headless/],
  ['--data-dir=', /--data-dir needs a path/],
  ['dance', /Unknown command “dance”/],
  ['config', /Unknown command “config”/],
  ['config import', /“homeport config import” needs a file/],
  ['config export a b', /“homeport config export” doesn’t take “b”/],
  ['backup', /needs a file/],
  ['backup --secrets f', /“homeport backup” doesn’t take --secrets/],
  ['--force', /“homeport” doesn’t take --force/],
  ['engines list all', /doesn’t take “all”/],
  ['engines remove', /“engines remove” needs an engine: yt-dlp/],
  ['engines remove vlc', /Unknown engine “vlc”/],
  ['engines install vlc', /Unknown engine “vlc”\. Available engines: yt-dlp, ffmpeg/],
  ['https://example.org', /Unknown command/],
  [`homeport://${'x'.repeat(5000)}`, /homeport:\/\/ link isn’t valid/],
  ['homeport://open more', /doesn’t take “more”/],
])('rejects homeport %.40s with one sentence and exit code 2', (line, message) => {
  const command = parseCommandLine(line.split(' '), registry);
  expect(command).toEqual({ name: 'invalid', exitCode: 2, message: expect.stringMatching(message) });
  expect(command.name === 'invalid' && command.message.split('\n')).toHaveLength(1);
});

test('lists every flag and command in the help', () => {
  for (const word of [
    '--headless',
    '--hidden',
    '--data-dir',
    '--port',
    '--safe-mode',
    '--version',
    '--help',
    'config export',
    'config import',
    'config check',
    'import ntfy',
    'import mailrise',
    'import apprise-api',
    '--dry-run',
    'backup',
    'restore',
    'engines list',
    'engines install',
    'engines remove',
  ]) {
    expect(helpText(registry)).toContain(word);
  }
});

test.each([
  ['the flag wins', '/flag', { HOMEPORT_DATA_DIR: '/env' }, 'linux', '/flag'],
  ['then the variable', undefined, { HOMEPORT_DATA_DIR: '/env', XDG_DATA_HOME: '/xdg' }, 'linux', '/env'],
  ['then XDG', undefined, { XDG_DATA_HOME: '/xdg' }, 'linux', '/xdg/homeport'],
  ['a relative XDG path is ignored', undefined, { XDG_DATA_HOME: 'xdg' }, 'linux', '/home/a/.local/share/homeport'],
  [
    'an empty variable counts as not set',
    undefined,
    { HOMEPORT_DATA_DIR: '' },
    'linux',
    '/home/a/.local/share/homeport',
  ],
  ['macOS', undefined, {}, 'darwin', '/home/a/Library/Application Support/homeport'],
  [
    'Windows',
    undefined,
    { LOCALAPPDATA: 'C:\\Users\\a\\AppData\\Local' },
    'win32',
    'C:\\Users\\a\\AppData\\Local\\homeport',
  ],
] as const)('resolves the data folder: %s', (_rule, flag, environment, platform, folder) => {
  expect(getDataDir(flag, environment, platform, '/home/a')).toBe(folder);
});

test('resolves a relative data folder against the working folder', () => {
  expect(getDataDir('data', {}, 'linux')).toBe(`${process.cwd()}/data`);
});

test('adds import commands with help from the manifests', () => {
  const services = [
    { importSources: [{ program: 'gitea', from: 'FOLDER', help: 'Import its repositories', dryRun: true }] },
  ] as const;
  expect(parseCommandLine(['import', 'gitea', 'data', '--dry-run'], services)).toEqual({
    ...{ name: 'import', dataDir: undefined, program: 'gitea', folder: 'data', dryRun: true },
  });
  expect(parseCommandLine(['import', 'gitea', 'data'])).toMatchObject({ name: 'invalid' });
  expect(helpText(services)).toContain('  import gitea FOLDER [--dry-run]    Import its repositories\n');
  expect(helpText(services)).not.toContain('ntfy');
});

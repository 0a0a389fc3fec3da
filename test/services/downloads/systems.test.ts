import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { startLibrary } from '../../../main/host/engines/start.ts';
import {
  buildDownloadArguments,
  type CommandSettings,
  type DownloadCommand,
} from '../../../services/downloads/engine/command.ts';
import { getForkEnvironment } from '../../../services/downloads/engine/fork-environment.ts';
import { anItem } from './sample-item.ts';

const settings: CommandSettings = {
  cacheFolder: '/cache',
  socketTimeout: 10,
  retries: 1,
  subtitles: { languages: [], embed: false, automatic: false },
  sponsorblock: { api: '', categories: [] },
  buildOptionArguments: () => [],
  maySkip: () => false,
  javaScript: [],
};

function buildArguments(folder: string, platform: NodeJS.Platform): readonly string[] {
  const { order } = anItem;
  const command: DownloadCommand = {
    ...{ url: 'https://example.com/v', order, playlist: null, template: '%(title)s.%(ext)s', chapterTemplate: '' },
    ...{ folder, captions: undefined, recode: false, fields: {}, infoFile: undefined, ffmpegPath: null },
  };
  return buildDownloadArguments(command, settings, platform);
}

function readOption(args: readonly string[], name: string): string | undefined {
  return args.includes(name) ? args[args.indexOf(name) + 1] : undefined;
}

describe('names of files on Windows', () => {
  it('shortens them by the room that the folder leaves in the longest path', () => {
    const short = buildArguments('C:\\d', 'win32');
    expect(short).toContain('--windows-filenames');
    expect(readOption(short, '--trim-filenames')).toBe(String(259 - 'C:\\d/part/'.length - 60));
    expect(readOption(buildArguments(`C:\\${'d'.repeat(150)}`, 'win32'), '--trim-filenames')).toBe('40');
    expect(readOption(buildArguments(`C:\\${'d'.repeat(250)}`, 'win32'), '--trim-filenames')).toBe('30');
  });

  it.each(['linux', 'darwin'] as const)('leaves them whole on %s, where only a name has a limit', (platform) => {
    expect(readOption(buildArguments('/downloads', platform), '--trim-filenames')).toBeUndefined();
  });
});

describe('environment of the worker that forks', () => {
  it('keeps Python on macOS from asking the system for proxies, unless a variable names one', () => {
    expect(getForkEnvironment('darwin', { PATH: '/usr/bin' })).toEqual({ no_proxy: '*' });
    expect(getForkEnvironment('darwin', { HTTPS_PROXY: 'http://proxy:3128' })).toEqual({});
    expect(getForkEnvironment('darwin', { no_proxy: 'nas' })).toEqual({});
    expect(getForkEnvironment('linux', {})).toEqual({});
  });

  it('reaches the interpreter', async () => {
    const library = { python: '/usr/bin/python3', path: '' };
    const script = 'import os; print(os.environ["no_proxy"])';
    const child = startLibrary(library, { script, folder: tmpdir(), environment: { no_proxy: '*' } });
    const [output] = await Promise.all([text(child.stdout), once(child, 'exit')]);
    expect(output).toBe('*\n');
  });
});

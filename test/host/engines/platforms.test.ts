import { describe, expect, it } from 'vitest';
import { getUsualFolders, mayRun } from '../../../main/host/engines/places.ts';
import { getPythonNames } from '../../../main/host/engines/python.ts';
import { getInstallCommand } from '../../../main/host/engines/remedy.ts';
import { getEngineSpecs } from '../../../main/host/engines/specs.ts';
import { registry } from '../../../main/host/services/registry.ts';

const specs = getEngineSpecs(registry);
const systems = (['linux', 'darwin', 'win32'] as const).flatMap((platform) =>
  (['x64', 'arm64'] as const).map((arch) => [platform, arch] as const),
);

/** Files of yt-dlp's releases that run without Python. */
const standalone: Readonly<Record<string, string>> = {
  'linux x64': 'yt-dlp_linux',
  'linux arm64': 'yt-dlp_linux_aarch64',
  'darwin x64': 'yt-dlp_macos',
  'darwin arm64': 'yt-dlp_macos',
  'win32 x64': 'yt-dlp.exe',
  'win32 arm64': 'yt-dlp_arm64.exe',
};

describe('engine', () => {
  it.each(systems)('includes a release of yt-dlp that needs nothing else on %s (%s)', (platform, arch) => {
    const source = specs.find(({ name }) => name === 'yt-dlp')?.sources.find(({ from }) => from === 'release');
    expect(source?.from === 'release' && source.asset({ platform, arch, python: false })).toBe(
      standalone[`${platform} ${arch}`],
    );
  });

  it.each(['darwin', 'win32'] as const)('names a command for ffmpeg on %s', (platform) => {
    const ffmpeg = specs.find(({ name }) => name === 'ffmpeg');
    expect(getInstallCommand({ sources: ffmpeg?.sources ?? [] }, platform)).toBe(
      { darwin: 'brew install ffmpeg', win32: 'winget install --id Gyan.FFmpeg --exact' }[platform],
    );
  });
});

describe('search for programs', () => {
  it('includes the folders of installers, which the PATH of a desktop app lacks', () => {
    const environment = { ProgramFiles: 'D:\\Programs', LOCALAPPDATA: 'C:\\Users\\Jane Doe\\AppData\\Local' };
    expect(getUsualFolders('win32', environment, 'C:\\Users\\Jane Doe')).toEqual([
      'D:\\Programs\\Git\\cmd',
      'C:\\Users\\Jane Doe\\AppData\\Local\\Programs\\Git\\cmd',
      'C:\\Users\\Jane Doe\\AppData\\Local\\Microsoft\\WinGet\\Links',
    ]);
    expect(getUsualFolders('darwin', {}, '/Users/ada')).toEqual([
      '/Users/ada/.local/bin',
      '/opt/homebrew/bin',
      '/usr/local/bin',
      '/opt/local/bin',
      '/usr/bin',
    ]);
  });

  it('includes the names of Python on Windows', () => {
    expect(getPythonNames('win32')).toEqual(['python3', 'python', 'py']);
    expect(getPythonNames('linux')).toContain('/usr/bin/python3');
  });

  it('does not run the placeholder programs of macOS, which open a dialog', async () => {
    const selects = (ok: boolean) => () => Promise.resolve({ ok });
    expect(await mayRun('/usr/bin/git', 'darwin', selects(false))).toBe(false);
    expect(await mayRun('/usr/bin/python3', 'darwin', selects(false))).toBe(false);
    expect(await mayRun('/usr/bin/git', 'darwin', selects(true))).toBe(true);
    expect(await mayRun('/opt/homebrew/bin/git', 'darwin', selects(false))).toBe(true);
    expect(await mayRun('/usr/bin/git', 'linux', selects(false))).toBe(true);
  });
});

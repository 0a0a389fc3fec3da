import { appendFileSync, copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createPackage } from '@electron/asar';

const root = fileURLToPath(new URL('../..', import.meta.url));
/** Marker of Electron's fuses in its program, followed by their version, their number, and a digit for each. */
const fuses = `dL7pKGdnNz796PbbjQWNKmHXBZaB9tsX\u0001\u0009${'0'.repeat(9)}`;

/** Creates everything of Electron that electron-builder needs to pack an app, except for a working program. */
export async function createElectronDist(folder: string, platform: NodeJS.Platform): Promise<string> {
  const write = (path: string, text = 'stand-in'): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text, { mode: 0o755 });
  };
  write('version', '45.4.1');
  write('LICENSE');
  write('LICENSES.chromium.html');
  write('empty/index.js', '');
  if (platform === 'darwin') {
    createMacApp(write);
  } else if (platform === 'win32') {
    write('locales/en-US.pak');
    // The checksum of the archive becomes a resource of the program, so it has to be a program of Windows.
    copyFileSync(join(root, 'node_modules/node-notifier/vendor/notifu/notifu64.exe'), join(folder, 'electron.exe'));
    appendFileSync(join(folder, 'electron.exe'), fuses);
  } else {
    write('electron', `ELF${fuses}`);
    write('locales/en-US.pak');
    write('chrome-sandbox');
  }
  const resources = join(folder, platform === 'darwin' ? 'Electron.app/Contents/Resources' : 'resources');
  mkdirSync(resources, { recursive: true });
  await createPackage(join(folder, 'empty'), join(resources, 'default_app.asar'));
  return folder;
}

function createMacApp(write: (path: string, text?: string) => void): void {
  const contents = 'Electron.app/Contents';
  const frameworks = `${contents}/Frameworks`;
  write(`${contents}/Info.plist`, buildPlist('Electron'));
  write(`${contents}/MacOS/Electron`);
  write(`${contents}/Resources/electron.icns`);
  write(`${frameworks}/Electron Framework.framework/Electron Framework`, `Mach-O${fuses}`);
  write(`${frameworks}/Electron Framework.framework/Resources/en.lproj/locale.pak`);
  for (const suffix of ['', ' (Renderer)', ' (GPU)', ' (Plugin)']) {
    const name = `Electron Helper${suffix}`;
    write(`${frameworks}/${name}.app/Contents/Info.plist`, buildPlist(name));
    write(`${frameworks}/${name}.app/Contents/MacOS/${name}`);
  }
}

function buildPlist(name: string): string {
  return (
    '<?xml version="1.0" encoding="UTF-8"?><plist version="1.0"><dict>' +
    `<key>CFBundleName</key><string>${name}</string><key>CFBundleExecutable</key><string>${name}</string>` +
    '</dict></plist>'
  );
}

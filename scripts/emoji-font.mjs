// Installs an emoji font for the screenshots of the documentation; without one, emoji are empty boxes.
import process from 'node:process';
import { aptInstall } from './apt.mjs';
import { run } from './commands.mjs';

const { stdout } = await run('fc-list', [':lang=und-zsye', 'family'], { quiet: true });
if (!/\S/.test(stdout ?? '')) {
  const isRoot = process.getuid?.() === 0;
  const { status, stderr } = isRoot
    ? await aptInstall(['fonts-noto-color-emoji'])
    : { status: 1, stderr: 'No font on this machine has emoji; the pictures show boxes in their place.' };
  if (status !== 0) console.error(stderr);
}

import type { ShellAnswers } from '../desktop/host-line.ts';
import type { ElectronApi } from './electron.ts';

/**
 * Uses the system's keyring for the vault's key. On Linux without a keyring Electron falls back to a password in its
 * own source, `basic_text`: that is not secure, so the key remains in the key file. Called only once the app is
 * ready.
 */
export function createKeyHandlers(
  safeStorage: ElectronApi['safeStorage'],
  platform: NodeJS.Platform,
): Pick<ShellAnswers, 'keyStoreIsSafe' | 'wrapKey' | 'unwrapKey'> {
  return {
    async keyStoreIsSafe() {
      if (!(await safeStorage.isAsyncEncryptionAvailable())) return false;
      return platform !== 'linux' || !['basic_text', 'unknown'].includes(safeStorage.getSelectedStorageBackend());
    },
    async wrapKey(bytes) {
      const encrypted = await safeStorage.encryptStringAsync(Buffer.from(bytes).toString('base64'));
      return encrypted.toString('base64');
    },
    async unwrapKey(text) {
      const { result, shouldReEncrypt } = await safeStorage.decryptStringAsync(Buffer.from(text, 'base64'));
      return { bytes: Buffer.from(result, 'base64'), outdated: shouldReEncrypt };
    },
  };
}

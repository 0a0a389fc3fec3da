import { writeLocalStorage, readLocalStorageJson, toStrings } from '../../../state/local-storage.ts';

const storageKey = 'homeport.push.pictures';

/** Topics whose pictures from other servers are loaded in this browser, as selected by the user. */
class RemotePictures {
  topics = $state.raw(toStrings(readLocalStorageJson(storageKey)));

  isAllowed(topic: string): boolean {
    return this.topics.includes(topic);
  }

  allow(topic: string): void {
    this.topics = [...new Set([...this.topics, topic])];
    writeLocalStorage(storageKey, JSON.stringify(this.topics));
  }
}

export const remotePictures = new RemotePictures();

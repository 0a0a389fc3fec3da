import { writeLocalStorage, readLocalStorageJson, toStrings } from '../../state/local-storage.ts';

const place = 'homeport.push.pictures';

/** Topics whose pictures from other servers this browser loads, because its person said so. */
class DistantPictures {
  topics = $state.raw(toStrings(readLocalStorageJson(place)));

  shown(topic: string): boolean {
    return this.topics.includes(topic);
  }

  show(topic: string): void {
    this.topics = [...new Set([...this.topics, topic])];
    writeLocalStorage(place, JSON.stringify(this.topics));
  }
}

export const distantPictures = new DistantPictures();

const letters = 'abcdefghijklmnopqrstuvwxyz';
const capitals = [...'ᴀʙᴄᴅᴇғɢʜɪᴊᴋʟᴍɴᴏᴘǫʀꜱᴛᴜᴠᴡxʏᴢ'];
const map = new Map([...letters].map((letter, index) => [letter, capitals[index] ?? letter]));

/** A text in small capitals, such as `ᴇɴ`. */
export function toSmallCapitals(text: string): string {
  return [...text].map((letter) => map.get(letter.toLowerCase()) ?? letter).join('');
}

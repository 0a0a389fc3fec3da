// Senders of mail, as relays are: each keeps its connection and sends one mail after another. They talk to 127.0.0.1
// only, are bounded by their arguments and print one line of JSON.
//
//   mails PORT CONNECTIONS COUNT RECIPIENT MAIL     of MAIL the text MARKER###### becomes the number of each mail
#include "load.h"

enum step { greeting, hello, sender, recipient, data, mail };
static const char signs[] = "MARKER######";

struct client {
  int socket_fd;
  enum step step;
  int number;
  size_t filled;
  double asked;
  char text[room + 1];
};

/** Whether a reply is there as a whole: its last line has a space behind the code. */
static int is_reply(char *text, size_t length) {
  text[length] = '\0';
  if (length < 6 || strcmp(text + length - 2, "\r\n") != 0) return 0;
  char *line = text;
  for (char *next; (next = strstr(line, "\r\n")) != NULL && next[2] != '\0'; line = next + 2);
  return line[3] == ' ';
}

int main(int words, char **word) {
  if (words != 6) fail("wrong arguments");
  int port = atoi(word[1]), connections = atoi(word[2]), count = atoi(word[3]);
  struct client *clients = room_for(connections, sizeof *clients);
  double *times = room_for(count, sizeof *times);
  struct epoll_event events[events_at_once];
  char to[512], *content = word[5], *place = strstr(content, signs);
  if (place == NULL) fail("the mail has no marker");
  snprintf(to, sizeof to, "RCPT TO:<%s>\r\n", word[4]);
  const char *commands[] = {"EHLO load\r\n", "MAIL FROM:<load@example.org>\r\n", to, "DATA\r\n"};
  int epoll = epoll_create1(EPOLL_CLOEXEC), begun = 0, answered = 0, refused = 0;
  for (int index = 0; index < connections; index += 1) {
    clients[index].socket_fd = dial(port);
    watch(epoll, clients[index].socket_fd, index);
  }
  double began = now();
  while (answered < count) {
    int ready = wait_for(epoll, events);
    for (int at = 0; at < ready; at += 1) {
      struct client *client = &clients[events[at].data.u32];
      ssize_t got = read(client->socket_fd, client->text + client->filled, room - client->filled);
      if (got <= 0) fail("the server hung up");
      client->filled += got;
      if (!is_reply(client->text, client->filled)) continue;
      client->filled = 0;
      if (client->step < mail && client->text[0] != '2' && client->text[0] != '3') fail(client->text);
      if (client->step == mail) {
        refused += client->text[0] != '2';
        times[answered++] = now() - client->asked;
      }
      if (client->step == mail || client->step == hello) {
        if (begun == count) continue;
        client->number = begun += 1;
        client->asked = now();
        client->step = hello;
      }
      if (client->step < data) {
        say(client->socket_fd, commands[client->step], strlen(commands[client->step]));
      } else {
        char marker[24];
        snprintf(marker, sizeof marker, "MARKER%06d", client->number % 1000000);
        memcpy(place, marker, sizeof signs - 1);
        say(client->socket_fd, content, strlen(content));
      }
      client->step += 1;
    }
  }
  double took = now() - began;
  qsort(times, count, sizeof *times, ascending);
  printf("{\"perSecond\":%.3f,\"refused\":%d,\"p50\":%.3f,\"p99\":%.3f,\"loadCpuMs\":%.4f}\n", count / took * 1e3,
         refused, share_of(times, count, 0.5), share_of(times, count, 0.99), cpu_ms() / count);
  return 0;
}

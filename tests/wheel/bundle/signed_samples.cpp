#include "tests/wheel/bundle/signed_samples.h"

#include <algorithm>

namespace axle::wheel::testing {

const std::vector<SignedSample>& signed_samples() {
  static const std::vector<SignedSample> samples = {
      {"ed25519",
       "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIPiPKj61qcBdSA9wHI1ziGqkF6j0+KIuLGhrZVKMhk2a",
       "SHA256:zgLjFcZv4BwavmL7abg1GiNqBVfNhvYR9jQtlbj7U88", "axle-bundle", "sha512",
       "-----BEGIN SSH SIGNATURE-----\n"
       "U1NIU0lHAAAAAQAAADMAAAALc3NoLWVkMjU1MTkAAAAg+I8qPrWpwF1ID3AcjXOIaqQXqP\n"
       "T4oi4saGtlUoyGTZoAAAALYXhsZS1idW5kbGUAAAAAAAAABnNoYTUxMgAAAFMAAAALc3No\n"
       "LWVkMjU1MTkAAABACGW/MtyPw0GxgD5Sv1Jw7ZjDt0Q+D6jecaeu6A85320rFqrzIVlfwI\n"
       "2Q8SAzzbOiG9HJlMODyj8PKiqkVTLaDw==\n"
       "-----END SSH SIGNATURE-----\n"},
      {"ed25519_sha256",
       "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIPiPKj61qcBdSA9wHI1ziGqkF6j0+KIuLGhrZVKMhk2a",
       "SHA256:zgLjFcZv4BwavmL7abg1GiNqBVfNhvYR9jQtlbj7U88", "axle-bundle", "sha256",
       "-----BEGIN SSH SIGNATURE-----\n"
       "U1NIU0lHAAAAAQAAADMAAAALc3NoLWVkMjU1MTkAAAAg+I8qPrWpwF1ID3AcjXOIaqQXqP\n"
       "T4oi4saGtlUoyGTZoAAAALYXhsZS1idW5kbGUAAAAAAAAABnNoYTI1NgAAAFMAAAALc3No\n"
       "LWVkMjU1MTkAAABAtrMpmZf4B8U8Q3wJEmwM746/lJ1mANwKae0hjAuNlXKfyh/ELesKWp\n"
       "FeFrto7zWKb31WcAcdeivS3i8X/2LZBA==\n"
       "-----END SSH SIGNATURE-----\n"},
      {"ed25519_for_git",
       "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIPiPKj61qcBdSA9wHI1ziGqkF6j0+KIuLGhrZVKMhk2a",
       "SHA256:zgLjFcZv4BwavmL7abg1GiNqBVfNhvYR9jQtlbj7U88", "git", "sha512",
       "-----BEGIN SSH SIGNATURE-----\n"
       "U1NIU0lHAAAAAQAAADMAAAALc3NoLWVkMjU1MTkAAAAg+I8qPrWpwF1ID3AcjXOIaqQXqP\n"
       "T4oi4saGtlUoyGTZoAAAADZ2l0AAAAAAAAAAZzaGE1MTIAAABTAAAAC3NzaC1lZDI1NTE5\n"
       "AAAAQJ64HbPjOJZL8gC2Ra3lfO0TFe5kMLQX+GPSFm+SlWqbX7i2HRiHynbDuaoGL3kSf2\n"
       "hjY4hm/2nwIqo81htZGgU=\n"
       "-----END SSH SIGNATURE-----\n"},
      {"ecdsa_p256",
       "ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBO4G0EC3"
       "teGjzoCtJzvRJ7qW2b0CAnALOOc9mjZQ8Bbo0NnddFnXpCqPcUHydRPaEce+8FbgukewBSdAjTh2f/0=",
       "SHA256:xHAcnhTzoJ0scZgd5azMvGYR3ROldG3gBcYT3kHTSHw", "axle-bundle", "sha512",
       "-----BEGIN SSH SIGNATURE-----\n"
       "U1NIU0lHAAAAAQAAAGgAAAATZWNkc2Etc2hhMi1uaXN0cDI1NgAAAAhuaXN0cDI1NgAAAE\n"
       "EE7gbQQLe14aPOgK0nO9EnupbZvQICcAs45z2aNlDwFujQ2d10WdekKo9xQfJ1E9oRx77w\n"
       "VuC6R7AFJ0CNOHZ//QAAAAtheGxlLWJ1bmRsZQAAAAAAAAAGc2hhNTEyAAAAZAAAABNlY2\n"
       "RzYS1zaGEyLW5pc3RwMjU2AAAASQAAACAhWFIQ63OMUYy/WJ7ROoJeTMRoF+PRm1Ih19zp\n"
       "a7drtQAAACEAoujD3aRhbVEX4Vmhrbib1hxmYxVKnpsEAzCDrJpExTE=\n"
       "-----END SSH SIGNATURE-----\n"},
      {"ecdsa_p384",
       "ecdsa-sha2-nistp384 AAAAE2VjZHNhLXNoYTItbmlzdHAzODQAAAAIbmlzdHAzODQAAABhBEOWGYq0"
       "K3kyZxcuGV5B6P8vpihik9h3jlgNbfksY0GG+og+lzqEOzu4IO/kWYEfOZZg02L3XCBAPJP/R0SoTb6j"
       "Sk0l46HRi/dcaQgT3NEWfL8dktOhoIUyKM7kQErtBQ==",
       "SHA256:Adim+/dB67SSmJJmMpRMgTMDr4BHMRuxoG9ZsibVouM", "axle-bundle", "sha512",
       "-----BEGIN SSH SIGNATURE-----\n"
       "U1NIU0lHAAAAAQAAAIgAAAATZWNkc2Etc2hhMi1uaXN0cDM4NAAAAAhuaXN0cDM4NAAAAG\n"
       "EEQ5YZirQreTJnFy4ZXkHo/y+mKGKT2HeOWA1t+SxjQYb6iD6XOoQ7O7gg7+RZgR85lmDT\n"
       "YvdcIEA8k/9HRKhNvqNKTSXjodGL91xpCBPc0RZ8vx2S06GghTIozuRASu0FAAAAC2F4bG\n"
       "UtYnVuZGxlAAAAAAAAAAZzaGE1MTIAAACDAAAAE2VjZHNhLXNoYTItbmlzdHAzODQAAABo\n"
       "AAAAMBdv0EBSQDr4/xlMuG0IaAX1fEpVm24KbbuTnyKuoHD+DaRZPkLC3zvhqU89VjlB4g\n"
       "AAADBXV5eragz+z1PTuj3okqujxIwlP5bSznL7duNAxK/J31Dv4gagnmdZDdZsGh3GjzE=\n"
       "-----END SSH SIGNATURE-----\n"},
      {"ecdsa_p521",
       "ecdsa-sha2-nistp521 AAAAE2VjZHNhLXNoYTItbmlzdHA1MjEAAAAIbmlzdHA1MjEAAACFBADqH+LL"
       "0sOOzL5rvx5Ff3wwmS5rXvjoOI6PSbEDE1ugDi5kOe4dwZqARFeFyOc7xtO/8UYhbqNfGOmDExRuukOs"
       "nwDiqa+PuwGsJYlG/cJ2lwyXriR+81XPDwUjX3Sb1T8/CvIAfsKBaN2JzV0Wi+0FDWfyhzPOjShY0gOU"
       "0BX6uQI/4g==",
       "SHA256:XsGy2j6AZ21SHmUl0xjQ8tzKIoORMhgA0BlgDNih5zU", "axle-bundle", "sha512",
       "-----BEGIN SSH SIGNATURE-----\n"
       "U1NIU0lHAAAAAQAAAKwAAAATZWNkc2Etc2hhMi1uaXN0cDUyMQAAAAhuaXN0cDUyMQAAAI\n"
       "UEAOof4svSw47Mvmu/HkV/fDCZLmte+Og4jo9JsQMTW6AOLmQ57h3BmoBEV4XI5zvG07/x\n"
       "RiFuo18Y6YMTFG66Q6yfAOKpr4+7AawliUb9wnaXDJeuJH7zVc8PBSNfdJvVPz8K8gB+wo\n"
       "Fo3YnNXRaL7QUNZ/KHM86NKFjSA5TQFfq5Aj/iAAAAC2F4bGUtYnVuZGxlAAAAAAAAAAZz\n"
       "aGE1MTIAAACnAAAAE2VjZHNhLXNoYTItbmlzdHA1MjEAAACMAAAAQgD1bYjjkVF8ckELHI\n"
       "SPmOvAwIi0fugnAq5TwmBiJCmc63rwzi3yF/P4Dfqatk6fQrF3AZ7EEqUX73qLmh0ylHoE\n"
       "vgAAAEIB8EeKwwd/U0ELau4uYnvx84YLNYn2+X52xN0UbH7gRK4V/3EASjpIO8tsSxFR+G\n"
       "jmmwap7U9HeTU82oGNPv9WQDE=\n"
       "-----END SSH SIGNATURE-----\n"},
      {"rsa_2048",
       "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQCwugw46wtwYTsGwE5KGIEchROEsMu71QegmjQMS1gd"
       "wPQZ6XkgOS81QSCFwB80uSaMZjijkQXhWmJdl6k9YXinwKHSHS1Xeb4nZQO4945EUaBU8FRJHchU6Pm4"
       "Mq47g8hOhga0vNAiE4msozJPiKzKEBUwAdcYFNV1VdGzRbwjQ64s14LqYFUd5ryiECAg3btPwODbGXOW"
       "ANar4+CqfOYlP9r88+UL9E5dOl81R7ubL3QbDgAkaH9x48OQt4w66TDZK+g+xL8OK0sf0dJFI/BA8/rZ"
       "o9nELEY9ajrf61UqpRpP9v8Nj7W73OfHurJNcSwZ2ElH8WynHTbIyz1bUgTL",
       "SHA256:rRIQiIdjVL5+U2LaDFPhMicUq/Xgyp7UpGVDOAlo0Uk", "axle-bundle", "sha512",
       "-----BEGIN SSH SIGNATURE-----\n"
       "U1NIU0lHAAAAAQAAARcAAAAHc3NoLXJzYQAAAAMBAAEAAAEBALC6DDjrC3BhOwbATkoYgR\n"
       "yFE4Swy7vVB6CaNAxLWB3A9BnpeSA5LzVBIIXAHzS5JoxmOKORBeFaYl2XqT1heKfAodId\n"
       "LVd5vidlA7j3jkRRoFTwVEkdyFTo+bgyrjuDyE6GBrS80CITiayjMk+IrMoQFTAB1xgU1X\n"
       "VV0bNFvCNDrizXgupgVR3mvKIQICDdu0/A4NsZc5YA1qvj4Kp85iU/2vzz5Qv0Tl06XzVH\n"
       "u5svdBsOACRof3Hjw5C3jDrpMNkr6D7Evw4rSx/R0kUj8EDz+tmj2cQsRj1qOt/rVSqlGk\n"
       "/2/w2Ptbvc58e6sk1xLBnYSUfxbKcdNsjLPVtSBMsAAAALYXhsZS1idW5kbGUAAAAAAAAA\n"
       "BnNoYTUxMgAAARQAAAAMcnNhLXNoYTItNTEyAAABAGTdXa2gixjTh6x/flkQ2m0rt+uD+q\n"
       "jNLLZbHdQzuBAx6EnW1HYiYyf0NP2f+CuLQ4+En8wrCLu+cYNFxvrlbQIOpWfbwXOj26Mp\n"
       "R+bxbKmA1KBdcbrY1BAbqMJd9Mztj5JxeLfDuc3qPDGTQ3t4pMmK51Di+wQFhHV0S4L+Jj\n"
       "6KVa1Z0Gcz24/CBGQb/kCl32lIw/PzJpOd7jY7lhJBt4aWRC9kn5QTZ1rtoYXRzgvwBMua\n"
       "W9aWnaqg/kt5u3WFtoKsfvXO5zOYbjLF07zMGvHW+s92IiKFXWR7cnPaawbYD9qM1OKqtg\n"
       "TnwyuXTBLO8InvtlFHW+wLOKSVnjmAiYg=\n"
       "-----END SSH SIGNATURE-----\n"},
      {"rsa_1024",
       "ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAAAgQDQRDx7zFUQAlJMHsxHHi2zCvKh8BTJ9Q+cDqhWZaKr"
       "f+1Rf0KFrOR8uuKGnb3Gg6NlmB8fLjn4XLWzsfTQoQB9GvSuEQzh+0qoPK/4sxO+klK6uUwvDfCmfp0V"
       "Dc9SGjOMUaZvxPtoqzimWdBhLT50LgtvX4RdZ6wBh5RZPndElw==",
       "SHA256:0tdrTSBZpBLVktNRZmnOSb55KEiaq+vP2rXy8mhUAy0", "axle-bundle", "sha512",
       "-----BEGIN SSH SIGNATURE-----\n"
       "U1NIU0lHAAAAAQAAAJcAAAAHc3NoLXJzYQAAAAMBAAEAAACBANBEPHvMVRACUkwezEceLb\n"
       "MK8qHwFMn1D5wOqFZloqt/7VF/QoWs5Hy64oadvcaDo2WYHx8uOfhctbOx9NChAH0a9K4R\n"
       "DOH7Sqg8r/izE76SUrq5TC8N8KZ+nRUNz1IaM4xRpm/E+2irOKZZ0GEtPnQuC29fhF1nrA\n"
       "GHlFk+d0SXAAAAC2F4bGUtYnVuZGxlAAAAAAAAAAZzaGE1MTIAAACUAAAADHJzYS1zaGEy\n"
       "LTUxMgAAAIA8ToxpH1kKLEhhGWtqX1Jf15f75v5r6KwprNiV/72ipnD33aFglfm3pSHYdE\n"
       "AtgOmAOnkcE+IsFh6LSaof5GDMd5TMFphvxK+sb04KVoBOq1ZOwMBeqqSN+NpPiDIrZFTh\n"
       "EMCw+9tY/lXHniQwOiORIu8o1mrJl+OCq/bIT7nw2w==\n"
       "-----END SSH SIGNATURE-----\n"},
  };
  return samples;
}

const SignedSample& signed_sample(std::string_view name) {
  return *std::ranges::find(signed_samples(), name, &SignedSample::name);
}

}  // namespace axle::wheel::testing

"""What the load generators made of oslo.messaging share: releases, drivers, programs."""

"""Shared by the load generators that use oslo.messaging: releases, drivers, programs."""
